// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// The data plane: one connection for each pair of ranks that ever talk.
///
/// All pairs are TCP connections over the bootstrap's interface. What differs is how the end of a
/// peer looks. Ranks of two hosts talk "over sockets": a closed connection is ncclRemoteError.
/// Ranks of one host talk "over shared memory", where NCCL notices nothing: whatever was to come
/// from that peer never comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bootstrap.hpp"
#include "socket.hpp"

namespace standin {

/// One message between this rank and `peer`. Both sides must mean the same label and size;
/// otherwise the receiver waits for ever, which is what a mismatch does in NCCL at best.
struct Transfer {
  int peer;
  bool sends;
  std::byte* data;
  std::size_t bytes;
  std::uint64_t label;
};

class Links {
 public:
  void open(int rank, std::uint64_t magic, std::vector<Peer> const& peers);
  void close();

  bool connected(std::vector<int> const& peers) const;

  /// Connects to those that are not connected yet; returns when they want it too. Waits for ever
  /// for a peer that does not.
  void connect(std::vector<int> const& peers, Door& door, Signal const& stop);

  /// Moves all of it at once, in order for each peer and direction. No transfer is with this rank
  /// itself.
  void exchange(std::vector<Transfer> const& transfers, Signal const& stop);

 private:
  struct Link {
    Descriptor socket;
    bool over_sockets = false;
    bool lost = false;  ///< the peer ended, over shared memory
  };
  class Traffic;

  int rank_ = 0;
  std::uint64_t magic_ = 0;
  std::vector<Peer> peers_;
  std::vector<Link> links_;
};

}  // namespace standin
