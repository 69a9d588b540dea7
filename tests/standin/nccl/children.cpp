// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Communicators made from another one.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "communicator.hpp"
#include "log.hpp"

namespace standin {

std::shared_ptr<Communicator> Communicator::split(int color, int key, bool blocking) {
  struct Wish {
    int color;
    int key;
  };
  std::vector<Wish> wishes(static_cast<std::size_t>(ranks_));
  wishes[static_cast<std::size_t>(rank_)] = {color, key};
  ring_.all_gather(wishes.data(), sizeof(Wish), stop_);
  int const number = ++children_;
  if (color == NCCL_SPLIT_NOCOLOR) return nullptr;
  std::vector<int> members;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (wishes[static_cast<std::size_t>(rank)].color == color) members.push_back(rank);
  }
  std::stable_sort(members.begin(), members.end(), [&](int left, int right) {
    return wishes[static_cast<std::size_t>(left)].key < wishes[static_cast<std::size_t>(right)].key;
  });
  return child(
      members,
      hash(text("split %llu %d %d", static_cast<unsigned long long>(magic_), number, color)),
      blocking);
}

std::shared_ptr<Communicator> Communicator::shrink(std::vector<int> const& excluded,
                                                   bool blocking) {
  std::vector<int> members;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (std::find(excluded.begin(), excluded.end(), rank) == excluded.end()) {
      members.push_back(rank);
    }
  }
  int const number = ++children_;
  return child(members,
               hash(text("shrink %llu %d", static_cast<unsigned long long>(magic_), number)),
               blocking);
}

/// The doors of the parent introduce the members to each other; the ones left out need not help.
std::shared_ptr<Communicator> Communicator::child(std::vector<int> const& members,
                                                  std::uint64_t tag, bool blocking) {
  int const ranks = static_cast<int>(members.size());
  int const rank =
      static_cast<int>(std::find(members.begin(), members.end(), rank_) - members.begin());
  auto made = std::make_shared<Communicator>(rank, ranks, device_, blocking);
  made->misbehave_before_check_in(stop_);
  made->open_up();
  Descriptor next;
  Descriptor previous;
  if (ranks > 1) {
    auto const after =
        static_cast<std::size_t>(members[static_cast<std::size_t>((rank + 1) % ranks)]);
    next = call(peers_[after].listener, {magic_, tag, rank}, stop_);
    previous = door_.expect({magic_, tag, (rank + ranks - 1) % ranks}, stop_);
  }
  made->misbehave_after_check_in();
  made->adopt(Ring(rank, ranks, std::move(next), std::move(previous)), tag, "ncclCommSplit", stop_);
  return made;
}

}  // namespace standin
