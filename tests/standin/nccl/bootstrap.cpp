// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include "log.hpp"
#include "settings.hpp"

namespace standin {
namespace {

constexpr std::uint64_t ring_tag = 1;

void check_in(Id const& id, CheckIn message, Descriptor& root, Signal const& stop) {
  message.magic = id.magic;
  root = dial(id.root, stop);
  send_all(root, &message, sizeof message, stop);
}

/// NCCL's way not to flood a root with more than a few hundred ranks.
void stagger(int rank_in_block, int block, Signal const& stop) {
  long long const threshold = nccl_integer("NCCL_UID_STAGGER_THRESHOLD", 256);
  long long const rate = nccl_integer("NCCL_UID_STAGGER_RATE", 7000);
  if (block <= threshold || rate <= 0) return;
  stop.sleep_ms(rank_in_block * 1000LL / rate);
}

/// The root's answer. When the root ends without one, NCCL's rank waits for a call that never
/// comes.
Address wait_for_answer(Descriptor const& root, Signal const& stop) {
  Address next;
  std::size_t have = 0;
  while (have < sizeof next) {
    wait_for(root.get(), POLLIN, stop);
    ssize_t const got =
        recv(root.get(), reinterpret_cast<char*>(&next) + have, sizeof next - have, 0);
    if (got > 0) {
      have += static_cast<std::size_t>(got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      stop.park();
    }
  }
  return next;
}

}  // namespace

void Door::open() {
  address_ = interface_address();
  listener_ = listen_on(address_);
}

void Door::close() {
  listener_.reset();
  waiting_.clear();
}

Descriptor Door::expect(Hello const& wanted, Signal const& stop) {
  while (true) {
    auto const found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](auto const& each) { return each.first == wanted; });
    if (found != waiting_.end()) {
      Descriptor socket = std::move(found->second);
      waiting_.erase(found);
      return socket;
    }
    Descriptor socket = accept_one(listener_, stop);
    Hello hello{};
    try {
      receive_all(socket, &hello, sizeof hello, stop);
    } catch (Failure const&) {
      continue;  // whoever that was is gone
    }
    if (hello.magic == wanted.magic) waiting_.emplace_back(hello, std::move(socket));
  }
}

Descriptor call(Address const& door, Hello const& hello, Signal const& stop) {
  Descriptor socket = dial(door, stop);
  send_all(socket, &hello, sizeof hello, stop);
  return socket;
}

Ring::Ring(int rank, int ranks, Descriptor next, Descriptor previous)
    : rank_(rank), ranks_(ranks), next_(std::move(next)), previous_(std::move(previous)) {}

void Ring::all_gather(void* slots, std::size_t size, Signal const& stop) const {
  auto* const bytes = static_cast<std::byte*>(slots);
  auto const slot = [&](int rank) {
    return bytes + size * static_cast<std::size_t>((rank + ranks_) % ranks_);
  };
  for (int step = 0; step + 1 < ranks_; ++step) {
    send_all(next_, slot(rank_ - step), size, stop);
    receive_all(previous_, slot(rank_ - step - 1), size, stop);
  }
}

void Ring::close() {
  next_.reset();
  previous_.reset();
}

Ring join_ring(std::vector<Id> const& ids, int rank, int ranks, Door& door, Signal const& stop) {
  int const roots = static_cast<int>(ids.size());
  int const mine = root_of(rank, roots, ranks);
  Block const block = block_of(mine, roots, ranks);
  stagger(rank - block.first, block.count, stop);
  Descriptor root;
  check_in(ids[static_cast<std::size_t>(mine)], {0, ranks, rank, roots, mine, door.address()}, root,
           stop);
  Descriptor before;  // the root of the rank before me, when that is another one
  if (roots > 1 && rank == block.first) {
    int const other = (mine + roots - 1) % roots;
    check_in(ids[static_cast<std::size_t>(other)], {0, ranks, rank, roots, other, door.address()},
             before, stop);
  }
  Address const next = wait_for_answer(root, stop);
  std::uint64_t const magic = ids.front().magic;
  if (ranks == 1) return {rank, ranks, Descriptor(), Descriptor()};
  Descriptor to_next = call(next, {magic, ring_tag, rank}, stop);
  return {rank, ranks, std::move(to_next),
          door.expect({magic, ring_tag, (rank + ranks - 1) % ranks}, stop)};
}

}  // namespace standin
