// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <base/patience.hpp>
#include <mpi/comm.hpp>
#include <sys/shared_memory.hpp>

namespace berth::ledger {

/// The ranks of one host, in rank order; the first one creates.
struct LocalGroup {
  std::vector<int> ranks;  ///< ranks of the communicator on this host
  int self = 0;            ///< own index in `ranks`
};

/// Result of share(): the segment and how it was made.
struct Shared {
  sys::SharedMemory memory;
  std::string how;  ///< "memfd", "shm_open", "private" (one rank, or nothing could be shared)
  /// Why this rank could not create or open it; empty on the ranks that could.
  std::string failure;
  bool shared = true;  ///< false: the ranks of this host could not share memory
};

/// Collective over the group; bounded. The first rank creates a zeroed segment, every other opens
/// it (that is the handshake proving one host); when one of them cannot, the next way is tried:
/// memfd, shm_open, none. `preferred` is "memfd", "shm_open" or "none".
/// The same outcome on all ranks of the group. @throws Error lost, timeout, mpi
Shared share(mpi::Comm& comm, LocalGroup const& group, std::size_t bytes,
             std::string const& preferred, base::Patience& patience);

}  // namespace berth::ledger
