// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <cpu/ring.hpp>

namespace berth::cpu {
namespace {

constexpr std::size_t line_bytes = 64;
/// With cached stores a result is stored twice in pieces that stay in the first cache between.
constexpr std::size_t twice_bytes = 8192;

std::size_t divide_up(std::size_t value, std::size_t by) {
  return (value + by - 1) / by;
}

}  // namespace

Ring::Ring(Context const& context, Arrivals& arrivals, Hosts& hosts, Stores& stores, Slots& slots)
    : context_(context),
      arrivals_(arrivals),
      hosts_(hosts),
      stores_(stores),
      slots_(slots),
      parts_(hosts.lanes()),
      is_lane_(context.local < hosts.lanes()),
      lag_(hosts.is_needed() ? 1 : 0),
      ahead_(context.segment.slots() - 2 - lag_),
      sources_(static_cast<std::size_t>(context.local_size)) {}

Ring::Cut Ring::cut_all_reduce() const {
  model::Descriptor const& operation = arrivals_.operation();
  Cut cut;
  cut.element = size_of(operation.type);
  cut.total = operation.count;
  auto const parts = static_cast<std::size_t>(parts_);
  // Slices begin at cache lines, also in the slots.
  std::size_t const grain = line_bytes / cut.element;
  std::size_t const room =
      std::min(context_.tuning.slice_bytes, context_.tuning.slot_bytes / parts);
  std::size_t const most = std::max(room / line_bytes, std::size_t{1}) * grain;
  // Two blocks at least, because the pipeline hides the copies of one behind the reduction of
  // another; equal ones, because a short last one would leave it unbalanced.
  std::size_t const least =
      std::min(most, std::max(context_.tuning.slice_bytes_min / cut.element, grain));
  std::size_t const blocks =
      std::max({divide_up(cut.total, most * parts),
                std::min(divide_up(cut.total, least * parts), std::size_t{2}), std::size_t{1}});
  cut.slice =
      std::max(divide_up(divide_up(cut.total, blocks * parts), grain), std::size_t{1}) * grain;
  cut.block = cut.slice * parts;
  cut.blocks = std::max(divide_up(cut.total, cut.block), std::size_t{1});
  return cut;
}

Ring::Range Ring::range(Cut const& cut, std::uint64_t block, std::size_t part) {
  std::size_t const begin = std::min(block * cut.block + part * cut.slice, cut.total);
  return {begin, std::min(cut.slice, cut.total - begin)};
}

void Ring::all_reduce(void const* in, void* out) {
  Cut const cut = cut_all_reduce();
  arrivals_.post();
  slots_.free_own();
  stores_.begin(cut.total * cut.element);
  is_streamed_ = stores_.is_streamed();
  stores_.start();
  for (std::uint64_t block = 0; block < std::min(ahead_, cut.blocks); ++block) {
    copy_in(cut, block, in);
  }
  stores_.stop();
  arrivals_.await_all();
  stores_.start();
  for (std::uint64_t turn = 0; turn < cut.blocks + lag_ + 1; ++turn) {
    if (turn + ahead_ < cut.blocks) copy_in(cut, turn + ahead_, in);
    if (turn < cut.blocks && is_lane_) reduce(cut, turn, in, out);
    if (lag_ > 0 && is_lane_ && turn >= 1 && turn - 1 < cut.blocks) {
      finish_between_hosts(cut, turn - 1, out);
    }
    if (turn >= lag_ + 1) copy_out(cut, turn - lag_ - 1, out);
    context_.step();
  }
  slots_.pass(cut.blocks);
  stores_.stop();
  stores_.end();
}

void Ring::store_shared(void* to, void const* from, std::size_t bytes) const {
  if (is_streamed_) {
    context_.kernels->stream_copy(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

void Ring::copy_in(Cut const& cut, std::uint64_t block, void const* in) {
  std::uint64_t const number = slots_.next() + block;
  std::byte* const slot = context_.segment.slot(context_.local, number);
  auto const parts = static_cast<std::size_t>(parts_);
  auto const own = static_cast<std::size_t>(context_.local);
  // Every rank begins behind itself, so that not all of them meet at the same slice.
  for (std::size_t turn = 1; turn <= parts; ++turn) {
    std::size_t const part = (own + turn) % parts;
    Range const slice = range(cut, block, part);
    if (part == own || slice.count == 0) continue;
    store_shared(slot + part * cut.slice * cut.element,
                 static_cast<std::byte const*>(in) + slice.begin * cut.element,
                 slice.count * cut.element);
  }
  context_.set_mark(Mark::copied, number + 1);
}

void Ring::reduce(Cut const& cut, std::uint64_t block, void const* in, void* out) {
  std::uint64_t const number = slots_.next() + block;
  auto const own = static_cast<std::size_t>(context_.local);
  Range const slice = range(cut, block, own);
  for (int local = 0; local < context_.local_size; ++local) {
    auto const index = static_cast<std::size_t>(local);
    if (local == context_.local) {
      sources_[index] = static_cast<std::byte const*>(in) + slice.begin * cut.element;
      continue;
    }
    context_.wait_mark(local, Mark::copied, number + 1);
    sources_[index] = context_.segment.slot(local, number) + own * cut.slice * cut.element;
  }
  if (lag_ > 0) {
    auto const set = static_cast<unsigned>(block % 2);
    arithmetic().part(hosts_.work(set), sources_.data(), context_.local_size, slice.count);
    hosts_.start(set, slice.count, static_cast<std::uint32_t>(block));
    return;
  }
  std::byte* const result = context_.segment.result(context_.local, number);
  if (out != nullptr) {
    reduce_both(static_cast<std::byte*>(out) + slice.begin * cut.element, result, slice.count);
  } else {
    arithmetic().whole(result, sources_.data(), context_.local_size, slice.count);
  }
  context_.set_mark(Mark::reduced, number + 1);
}

void Ring::reduce_both(void* out, void* result, std::size_t count) {
  if (is_streamed_) {
    arithmetic().whole_twice(out, result, sources_.data(), context_.local_size, count);
    return;
  }
  std::size_t const element = size_of(arrivals_.operation().type);
  std::size_t const most = twice_bytes / element;
  for (std::size_t done = 0; done < count; done += most) {
    std::size_t const now = std::min(most, count - done);
    std::byte* const to = static_cast<std::byte*>(out) + done * element;
    arithmetic().whole(to, sources_.data(), context_.local_size, now);
    std::memcpy(static_cast<std::byte*>(result) + done * element, to, now * element);
    for (void const*& source : sources_) {
      source = static_cast<std::byte const*>(source) + now * element;
    }
  }
}

void Ring::finish_between_hosts(Cut const& cut, std::uint64_t block, void* out) {
  std::uint64_t const number = slots_.next() + block;
  auto const set = static_cast<unsigned>(block % 2);
  hosts_.finish(set);
  Range const slice = range(cut, block, static_cast<std::size_t>(context_.local));
  if (slice.count > 0) {
    std::size_t const bytes = slice.count * cut.element;
    if (context_.local_size > 1) {
      store_shared(context_.segment.result(context_.local, number), hosts_.work(set), bytes);
    }
    if (out != nullptr) {
      std::memcpy(static_cast<std::byte*>(out) + slice.begin * cut.element, hosts_.work(set),
                  bytes);
    }
  }
  context_.set_mark(Mark::reduced, number + 1);
}

void Ring::copy_out(Cut const& cut, std::uint64_t block, void* out) {
  std::uint64_t const number = slots_.next() + block;
  std::size_t const traffic =
      2 * static_cast<std::size_t>(context_.local_size) * cut.total * cut.element;
  bool const is_streamed = traffic >= context_.tuning.stream_result_from_bytes;
  for (int turn = 1; turn <= parts_; ++turn) {
    int const part = (context_.local + turn) % parts_;
    if (part == context_.local) continue;
    context_.wait_mark(part, Mark::reduced, number + 1);
    Range const slice = range(cut, block, static_cast<std::size_t>(part));
    if (slice.count == 0 || out == nullptr) continue;
    std::byte* const to = static_cast<std::byte*>(out) + slice.begin * cut.element;
    std::byte const* const from = context_.segment.result(part, number);
    if (is_streamed) {
      context_.kernels->stream_copy(to, from, slice.count * cut.element);
    } else {
      std::memcpy(to, from, slice.count * cut.element);
    }
  }
}

// Broadcast: the source's slots, one block each, whole.

void Ring::broadcast(void* buffer) {
  model::Descriptor const& operation = arrivals_.operation();
  Cut cut;
  cut.element = size_of(operation.type);
  cut.total = operation.count;
  cut.slice = context_.segment.slot_bytes() / cut.element;
  cut.slice = std::min(cut.slice, context_.tuning.slice_bytes / cut.element);
  cut.block = cut.slice;
  cut.blocks = std::max(divide_up(cut.total, cut.block), std::size_t{1});
  int const source = hosts_.representative(operation.root);
  is_streamed_ = stores_.is_streamed(cut.total * cut.element);
  arrivals_.post();
  if (hosts_.is_needed() && context_.local == 0) hosts_.agree();
  if (context_.local == source) {
    slots_.free_own();
    send_blocks(cut, buffer);
    slots_.pass_unread(cut.blocks);
  } else {
    take_blocks(cut, buffer, source);
    slots_.pass(cut.blocks);
  }
}

void Ring::send_blocks(Cut const& cut, void* buffer) {
  bool const is_relay = hosts_.is_needed() && context_.rank != arrivals_.operation().root;
  if (hosts_.is_needed()) hosts_.begin_broadcast(arrivals_.operation().root, true);
  if (is_relay) hosts_.expect(0);
  for (std::uint64_t block = 0; block < cut.blocks; ++block) {
    std::uint64_t const number = slots_.next() + block;
    auto const chunk = static_cast<std::uint32_t>(block);
    Range const slice = range(cut, block, 0);
    std::size_t const bytes = slice.count * cut.element;
    std::byte* const own = static_cast<std::byte*>(buffer) + slice.begin * cut.element;
    std::byte const* data = own;
    if (is_relay) {
      if (block + 1 < cut.blocks) hosts_.expect(chunk + 1);
      data = hosts_.arrived(chunk);
    } else if (hosts_.is_needed()) {
      std::memcpy(hosts_.fill(chunk), own, bytes);
    }
    if (hosts_.is_needed()) hosts_.forward(chunk, bytes);
    // Before anything is waited for that only those do who are in this operation.
    if (block == context_.segment.slots()) arrivals_.await_all();
    if (block >= context_.segment.slots()) {
      for (int local = 0; local < context_.local_size; ++local) {
        if (local == context_.local) continue;
        context_.wait_mark(local, Mark::taken, number + 1 - context_.segment.slots());
      }
    }
    if (context_.local_size > 1) {
      store_shared(context_.segment.slot(context_.local, number), data, bytes);
    }
    context_.set_mark(Mark::copied, number + 1);
    if (is_relay) std::memcpy(own, data, bytes);
    context_.step();
  }
  if (hosts_.is_needed()) hosts_.end_broadcast();
}

void Ring::take_blocks(Cut const& cut, void* buffer, int source) {
  arrivals_.await(source);
  for (std::uint64_t block = 0; block < cut.blocks; ++block) {
    std::uint64_t const number = slots_.next() + block;
    Range const slice = range(cut, block, 0);
    context_.wait_mark(source, Mark::copied, number + 1);
    std::memcpy(static_cast<std::byte*>(buffer) + slice.begin * cut.element,
                context_.segment.slot(source, number), slice.count * cut.element);
    context_.set_mark(Mark::taken, number + 1);
    context_.step();
  }
}

}  // namespace berth::cpu
