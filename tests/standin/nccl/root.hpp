// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Ids, and the root that each of them names: a thread that takes every rank's address and tells
/// each who is next in the ring.
#pragma once

#include <cstdint>

#include "nccl_api.hpp"
#include "socket.hpp"

namespace standin {

/// The first bytes of an id; the rest is zero.
struct Id {
  std::uint64_t magic;
  Address root;
};
static_assert(sizeof(Id) <= NCCL_UNIQUE_ID_BYTES);

Id read_id(ncclUniqueId const& bytes);

/// What a rank tells a root: plain bytes.
struct CheckIn {
  std::uint64_t magic;
  std::int32_t ranks;
  std::int32_t rank;
  std::int32_t roots;  ///< how many ids the communicator has
  std::int32_t root;   ///< which of them this is
  Address listener;    ///< of the rank
};

/// Ranks of root `root` when `ranks` are dealt to `roots` ids in contiguous blocks.
struct Block {
  int first;
  int count;
};
Block block_of(int root, int roots, int ranks);

/// The root of `rank`.
int root_of(int rank, int roots, int ranks);

/// Makes an id and starts its root in this process; NCCL_COMM_ID names a root instead, which rank 0
/// starts.
ncclUniqueId make_id();

/// Starts the root that NCCL_COMM_ID names; no-op when the variable is not set.
void start_named_root();

/// Ends the root of this id when it still waits in this process.
void end_root(std::uint64_t magic);

}  // namespace standin
