// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

/// How many of the first calls can go as one.
std::size_t fusible(std::span<Call const> calls) {
  Call const& first = calls.front();
  std::size_t bytes = 0;
  std::size_t together = 0;
  for (Call const& call : calls) {
    bytes += bytes_of(call);
    bool const fits = is_small_reduction(call) && call.type == first.type && call.op == first.op &&
                      bytes <= fused_bytes;
    if (!fits) break;
    ++together;
  }
  return std::max(together, std::size_t{1});
}

}  // namespace

void Queue::group_end() {
  if (depth_ == 0) base::fail(Errc::invalid_argument, "group_end() without group_start()");
  if (--depth_ > 0) return;
  make_group();
}

void Queue::make_fused(std::span<Call const> calls) {
  Call all = calls.front();
  std::size_t const size = size_of(all.type);
  all.count = 0;
  // What the ranks must agree on is each count, not their sum alone.
  std::uint64_t form = 2;
  for (Call const& call : calls) {
    all.count += call.count;
    form = model::mix(form ^ call.count);
  }
  std::vector<std::byte> packed(all.count * size);
  std::byte* to = packed.data();
  for (Call const& call : calls) {
    if (call.count > 0) std::memcpy(to, call.in, bytes_of(call));
    to += bytes_of(call);
  }
  all.in = packed.data();
  all.out = packed.data();
  make_(all, form);
  std::byte const* from = packed.data();
  for (Call const& call : calls) {
    if (call.count > 0) std::memcpy(call.out, from, bytes_of(call));
    from += bytes_of(call);
  }
}

void Queue::make_group() {
  // Taken out first: what throws ends the communicator, and nothing of the group may come again.
  std::vector<Call> const calls = std::exchange(calls_, {});
  std::vector<coll::Message> const messages = std::exchange(messages_, {});
  drain();
  for (std::span<Call const> left = calls; !left.empty();) {
    std::size_t const together = fusible(left);
    if (together > 1) {
      make_fused(left.first(together));
    } else {
      make_(left.front(), 0);
    }
    left = left.subspan(together);
  }
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
