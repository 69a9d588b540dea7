// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "communicator.hpp"
#include "links.hpp"
#include "operation.hpp"

namespace standin {
namespace {

/// Contributions are kept for one piece of the data at a time, so many bytes of them at most.
constexpr std::size_t piece_bytes = std::size_t{8} << 20;

std::uint64_t label_of(Operation const& operation) {
  if (is_pair(operation)) return 1;
  auto const part = [](auto value, unsigned shift) {
    return static_cast<std::uint64_t>(value) << shift;
  };
  return part(operation.kind, 32) + part(operation.type, 24) + part(operation.reduction.op, 16) +
         part(operation.root, 4) + 2;
}

/// One collective on one rank.
class Run {
 public:
  Run(Communicator& communicator, Operation const& operation, Signal const& stop)
      : communicator_(communicator),
        operation_(operation),
        stop_(stop),
        rank_(communicator.rank()),
        ranks_(communicator.ranks()),
        label_(label_of(operation)),
        size_(size_of(operation.type)),
        bytes_(operation.count * size_) {}

  void all_reduce() {
    for_pieces(static_cast<std::size_t>(ranks_), [&](std::size_t first, std::size_t count) {
      // Each rank reduces its slice of the piece and gives it to all.
      auto const begin = [&](int rank) {
        return first + count * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks_);
      };
      auto const slice = [&](int rank) { return (begin(rank + 1) - begin(rank)) * size_; };
      combine([&](int rank) { return operation_.from + begin(rank) * size_; }, slice,
              operation_.to + begin(rank_) * size_);
      for_others([&](int peer) {
        send(peer, operation_.to + begin(rank_) * size_, slice(rank_));
        receive(peer, operation_.to + begin(peer) * size_, slice(peer));
      });
      flush();
    });
  }

  void reduce_scatter() {
    for_pieces(1, [&](std::size_t first, std::size_t count) {
      combine([&](int rank) { return block(operation_.from, rank) + first * size_; },
              [&](int) { return count * size_; }, operation_.to + first * size_);
    });
  }

  void reduce() {
    for_pieces(1, [&](std::size_t first, std::size_t count) {
      std::byte const* const from = operation_.from + first * size_;
      combine([&](int) { return from; },
              [&](int rank) { return rank == operation_.root ? count * size_ : 0; },
              rank_ == operation_.root ? operation_.to + first * size_ : nullptr);
    });
  }

  void broadcast() {
    if (rank_ == operation_.root) {
      for_others([&](int peer) { send(peer, operation_.from, bytes_); });
      copy(operation_.to, operation_.from);
    } else {
      receive(operation_.root, operation_.to, bytes_);
    }
    flush();
  }

  void all_gather() {
    copy(block(operation_.to, rank_), operation_.from);
    for_others([&](int peer) {
      send(peer, block(operation_.to, rank_), bytes_);
      receive(peer, block(operation_.to, peer), bytes_);
    });
    flush();
  }

  void all_to_all() {
    // In place is not defined in NCCL; here it works, because the blocks are copied first.
    std::vector<std::byte> kept;
    std::byte const* from = operation_.from;
    if (operation_.from == operation_.to) {
      kept.assign(from, from + bytes_ * static_cast<std::size_t>(ranks_));
      from = kept.data();
    }
    copy(block(operation_.to, rank_), block(from, rank_));
    for_others([&](int peer) {
      send(peer, block(from, peer), bytes_);
      receive(peer, block(operation_.to, peer), bytes_);
    });
    flush();
  }

  void gather() {
    if (rank_ == operation_.root) {
      copy(block(operation_.to, rank_), operation_.from);
      for_others([&](int peer) { receive(peer, block(operation_.to, peer), bytes_); });
    } else {
      send(operation_.root, operation_.from, bytes_);
    }
    flush();
  }

  void scatter() {
    if (rank_ == operation_.root) {
      for_others([&](int peer) { send(peer, block(operation_.from, peer), bytes_); });
      copy(operation_.to, block(operation_.from, rank_));
    } else {
      receive(operation_.root, operation_.to, bytes_);
    }
    flush();
  }

 private:
  template <typename Body>
  void for_pieces(std::size_t slices, Body body) const {
    std::size_t const most =
        std::max<std::size_t>(piece_bytes * slices / static_cast<std::size_t>(ranks_) / size_, 1);
    for (std::size_t first = 0; first < operation_.count; first += most) {
      body(first, std::min(most, operation_.count - first));
    }
  }

  template <typename Body>
  void for_others(Body body) const {
    for (int step = 1; step < ranks_; ++step) body((rank_ + step) % ranks_);
  }

  /// Sends from(rank), part(rank) bytes, to every other rank, and reduces what is for this one.
  template <typename From, typename Part>
  void combine(From from, Part part, std::byte* result) {
    std::size_t const mine = part(rank_);
    std::vector<std::byte> arrived(mine * static_cast<std::size_t>(ranks_));
    std::vector<std::byte const*> contributions;
    for (int rank = 0; rank < ranks_; ++rank) {
      contributions.push_back(
          rank == rank_ ? from(rank) : arrived.data() + mine * static_cast<std::size_t>(rank));
    }
    for_others([&](int peer) {
      send(peer, from(peer), part(peer));
      receive(peer, arrived.data() + mine * static_cast<std::size_t>(peer), mine);
    });
    flush();
    standin::reduce(operation_.reduction, operation_.type, contributions, result, mine / size_);
  }

  template <typename Byte>
  Byte* block(Byte* buffer, int rank) const {
    return buffer + bytes_ * static_cast<std::size_t>(rank);
  }

  void copy(std::byte* to, std::byte const* from) const {
    if (bytes_ > 0 && to != from) std::memmove(to, from, bytes_);
  }

  void send(int peer, std::byte const* data, std::size_t bytes) {
    if (bytes > 0) {
      transfers_.push_back({peer, true, const_cast<std::byte*>(data), bytes, label_});
    }
  }

  void receive(int peer, std::byte* data, std::size_t bytes) {
    if (bytes > 0) transfers_.push_back({peer, false, data, bytes, label_});
  }

  void flush() {
    communicator_.links().exchange(transfers_, stop_);
    transfers_.clear();
  }

  Communicator& communicator_;
  Operation const& operation_;
  Signal const& stop_;
  int const rank_;
  int const ranks_;
  std::uint64_t const label_;
  std::size_t const size_;
  std::size_t const bytes_;
  std::vector<Transfer> transfers_;
};

}  // namespace

std::vector<int> partners(Communicator const& communicator,
                          std::vector<Operation> const& operations) {
  std::vector<int> ranks;
  for (int rank = 0; rank < communicator.ranks(); ++rank) {
    bool const wanted = std::any_of(operations.begin(), operations.end(), [&](auto const& each) {
      return !is_pair(each) || each.root == rank;
    });
    if (wanted && rank != communicator.rank()) ranks.push_back(rank);
  }
  return ranks;
}

std::byte* result_of(Communicator const& communicator, Operation const& operation,
                     std::size_t& bytes) {
  auto const ranks = static_cast<std::size_t>(communicator.ranks());
  bool const root = communicator.rank() == operation.root;
  bytes = operation.count * size_of(operation.type);
  switch (operation.kind) {
    case Kind::send:
      return nullptr;
    case Kind::reduce:
      return root ? operation.to : nullptr;
    case Kind::gather:
      bytes *= ranks;
      return root ? operation.to : nullptr;
    case Kind::all_gather:
    case Kind::all_to_all:
      bytes *= ranks;
      return operation.to;
    default:
      return operation.to;
  }
}

void run_collective(Communicator& communicator, Operation const& wanted, Signal const& stop) {
  Operation operation = wanted;
  std::vector<std::byte> scaled;
  if (wanted.reduction.scaled) {
    // The factor is each rank's own, so it is applied before anything is sent.
    std::size_t const blocks =
        wanted.kind == Kind::reduce_scatter ? static_cast<std::size_t>(communicator.ranks()) : 1;
    scaled.resize(wanted.count * blocks * size_of(wanted.type));
    reduce(wanted.reduction, wanted.type, {wanted.from}, scaled.data(), wanted.count * blocks);
    operation.from = scaled.data();
    operation.reduction = Reduction{};
  }
  Run run(communicator, operation, stop);
  switch (operation.kind) {
    case Kind::all_reduce:
      return run.all_reduce();
    case Kind::reduce:
      return run.reduce();
    case Kind::broadcast:
      return run.broadcast();
    case Kind::all_gather:
      return run.all_gather();
    case Kind::reduce_scatter:
      return run.reduce_scatter();
    case Kind::all_to_all:
      return run.all_to_all();
    case Kind::gather:
      return run.gather();
    case Kind::scatter:
      return run.scatter();
    case Kind::send:
    case Kind::receive:
      return;
  }
}

void run_pairs(Communicator& communicator, std::vector<Operation> const& pairs,
               Signal const& stop) {
  std::vector<Transfer> transfers;
  std::vector<Operation const*> to_self;
  std::vector<Operation const*> from_self;
  for (Operation const& each : pairs) {
    bool const sends = each.kind == Kind::send;
    if (each.root == communicator.rank()) {
      (sends ? to_self : from_self).push_back(&each);
      continue;
    }
    transfers.push_back({each.root, sends, sends ? const_cast<std::byte*>(each.from) : each.to,
                         each.count * size_of(each.type), label_of(each)});
  }
  if (to_self.size() != from_self.size()) stop.park();
  for (std::size_t i = 0; i < to_self.size(); ++i) {
    Operation const& send = *to_self[i];
    std::size_t const bytes = send.count * size_of(send.type);
    if (bytes > 0) std::memmove(from_self[i]->to, send.from, bytes);
  }
  communicator.links().exchange(transfers, stop);
}

}  // namespace standin
