// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// How the ranks of a communicator find each other: a door that each rank listens at, and a ring
/// through which small facts go round.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "root.hpp"
#include "socket.hpp"

namespace standin {

/// What each rank knows of each other one; plain bytes.
struct Peer {
  std::uint64_t host;  ///< hash of the host
  char bus_id[16];
  char host_name[64];
  std::int32_t device;
  std::int32_t pid;
  std::int32_t status;  ///< descriptor of its Status in that process
  std::int32_t reserved;
  Address listener;
};

/// First message on a connection to a door; plain bytes.
struct Hello {
  std::uint64_t magic;  ///< of the communicator whose door it is
  std::uint64_t tag;    ///< what the connection is for
  std::int64_t rank;    ///< of the caller, in the communicator that the tag means

  bool operator==(Hello const&) const = default;
};

/// Where a rank is called. Used by one thread at a time.
class Door {
 public:
  void open();
  void close();
  Address const& address() const { return address_; }

  /// The connection that began with this hello; others that come meanwhile are kept.
  Descriptor expect(Hello const& wanted, Signal const& stop);

 private:
  Address address_;
  Descriptor listener_;
  std::vector<std::pair<Hello, Descriptor>> waiting_;
};

/// Calls at somebody's door.
Descriptor call(Address const& door, Hello const& hello, Signal const& stop);

class Ring {
 public:
  Ring() = default;
  Ring(int rank, int ranks, Descriptor next, Descriptor previous);

  /// Each rank's `size` bytes at slot[rank]; every rank's are there afterwards. Collective.
  void all_gather(void* slots, std::size_t size, Signal const& stop) const;

  void close();

 private:
  int rank_ = 0;
  int ranks_ = 1;
  Descriptor next_;
  Descriptor previous_;
};

/// Checks in at the root or roots of the ids, and closes the ring. Collective. Waits for ever, as
/// NCCL, when a root gives no answer.
Ring join_ring(std::vector<Id> const& ids, int rank, int ranks, Door& door, Signal const& stop);

}  // namespace standin
