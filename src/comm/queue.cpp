// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <base/error.hpp>
#include <comm/queue.hpp>

namespace berth::comm {

namespace {

/// Calls up to this size cost more to start than to carry: they go together, up to so much.
constexpr std::size_t small_bytes = 4096;
constexpr std::size_t fused_bytes = std::size_t{32} << 10;
constexpr std::uint64_t started_ahead = 1;

std::size_t bytes_of(Call const& call) {
  return call.count * size_of(call.type);
}

bool is_small_reduction(Call const& call) {
  return call.collective == model::Collective::all_reduce && call.count <= small_bytes &&
         bytes_of(call) <= small_bytes;
}

}  // namespace

void Queue::group_end() {
  if (depth_ == 0) base::fail(Errc::invalid_argument, "group_end() without group_start()");
  if (--depth_ > 0) return;
  make_group();
}

std::size_t Queue::fusible_end(std::size_t first) const {
  std::size_t last = first + 1;
  if (!is_small_reduction(calls_[first])) return last;
  std::size_t bytes = bytes_of(calls_[first]);
  for (; last < calls_.size(); ++last) {
    Call const& call = calls_[last];
    bool const fits = is_small_reduction(call) && call.type == calls_[first].type &&
                      call.op == calls_[first].op && bytes + bytes_of(call) <= fused_bytes;
    if (!fits) break;
    bytes += bytes_of(call);
  }
  return last;
}

void Queue::make_fused(std::size_t first, std::size_t last) {
  Call all = calls_[first];
  std::size_t const size = size_of(all.type);
  all.count = 0;
  // What the ranks must agree on is each count, not their sum alone.
  std::uint64_t form = 2;
  for (std::size_t i = first; i < last; ++i) {
    all.count += calls_[i].count;
    form = model::mix(form ^ calls_[i].count);
  }
  std::vector<std::byte> packed(all.count * size);
  std::byte* to = packed.data();
  for (std::size_t i = first; i < last; ++i) {
    if (calls_[i].count > 0) std::memcpy(to, calls_[i].in, bytes_of(calls_[i]));
    to += bytes_of(calls_[i]);
  }
  all.in = packed.data();
  all.out = packed.data();
  make_(all, form);
  std::byte const* from = packed.data();
  for (std::size_t i = first; i < last; ++i) {
    if (calls_[i].count > 0) std::memcpy(calls_[i].out, from, bytes_of(calls_[i]));
    from += bytes_of(calls_[i]);
  }
}

void Queue::make_group() {
  // Taken out first: what throws ends the communicator, and nothing of the group may come again.
  std::vector<coll::Message> const messages = std::exchange(messages_, {});
  drain();
  for (std::size_t first = 0; first < calls_.size();) {
    std::size_t const last = fusible_end(first);
    if (last - first > 1) {
      make_fused(first, last);
    } else {
      make_(calls_[first], 0);
    }
    first = last;
  }
  calls_.clear();
  if (!messages.empty()) exchange_(messages);
}

std::uint64_t Queue::start(Call const& call) {
  started_.push_back({call, comm_.start_barrier(), ++last_ticket_});
  return last_ticket_;
}

void Queue::make_front() {
  Started front = std::move(started_.front());
  started_.pop_front();
  make_(front.call, started_ahead);
  // Every rank has made the call and so has started it: this only collects what MPI keeps.
  patience_.until([&] { return front.all_started.test(); }, -1);
}

bool Queue::test(std::uint64_t ticket) {
  while (!started_.empty() && started_.front().ticket <= ticket &&
         started_.front().all_started.test()) {
    make_front();
  }
  return started_.empty() || started_.front().ticket > ticket;
}

void Queue::wait(std::uint64_t ticket) {
  while (!started_.empty() && started_.front().ticket <= ticket) make_front();
}

}  // namespace berth::comm
