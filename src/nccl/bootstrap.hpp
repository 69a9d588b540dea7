// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gpu/runtime.hpp>
#include <nccl/library.hpp>

#include <base/log.hpp>
#include <berth/error.hpp>
#include <ledger/watch.hpp>
#include <mpi/comm.hpp>

namespace berth::nccl {

/// What NCCL's settings in the environment say that matters before there is a communicator.
struct Wishes {
  std::string host_id;         ///< NCCL_HOSTID; empty: not set
  std::string comm_id;         ///< NCCL_COMM_ID; empty: not set
  bool has_interface = false;  ///< NCCL_SOCKET_IFNAME is set
  bool allow_comm_id = false;  ///< BERTH_ALLOW_NCCL_COMM_ID
};

/// What a communicator of NCCL is made from. Everything outlives it.
struct Setup {
  std::shared_ptr<Library const> nccl;    ///< not null
  std::shared_ptr<gpu::Runtime> runtime;  ///< not null; the device is set already
  gpu::Device device;                     ///< this rank's
  mpi::Comm const* mpi = nullptr;         ///< not null
  ledger::Watch* watch = nullptr;         ///< not null
  base::Log const* log = nullptr;         ///< not null
  std::vector<std::string> host_names;
  std::vector<int> host_of_rank;  ///< index into host_names
  Wishes wishes;
  /// Sets an environment variable of this process (NCCL reads NCCL_SOCKET_IFNAME itself).
  std::function<void(char const* name, std::string const& value)> set_variable;
  /// Compares what the ranks are doing, because NCCL only waits when they differ. Cheap; called now
  /// and then in a long wait. @throws Error mismatch
  std::function<void()> compare;
  /// Tells every rank that this one cannot go on. Never waits.
  std::function<void(Errc code, std::string const& text)> report;
};

/// What every rank tells every other one before NCCL is touched. Plain data.
struct Facts {
  std::int32_t version = 0;  ///< of the library that is loaded
  std::int32_t header = 0;
  std::int32_t host = -1;  ///< index into host_names
  std::uint8_t has_comm_id = 0;
  char bus_id[19] = {};
  char uuid[48] = {};
  char host_id[48] = {};  ///< NCCL_HOSTID
};

/// The first thing that keeps these ranks from one communicator, as an Error that is the same
/// wherever it is computed. Pure. @throws Error mismatch, no_device, bad_configuration
void check_facts(std::vector<Facts> const& all, std::vector<std::string> const& host_names,
                 bool allow_comm_id);

/// Rank that makes the id of block `block`, when `ranks` ranks are cut into `blocks` contiguous
/// blocks as ncclCommInitRankScalable cuts them: the first ones are longer by one.
int first_rank_of(int block, int blocks, int ranks);

/// How many ids to make: one for up to 128 ranks, then one for every 128.
int blocks_for(int ranks, bool is_scalable);

/// Every rank learns of an error that this one met in NCCL, unless there is a verdict already. NCCL
/// sees that an end is gone, the ledger a little later whose it was: that is waited for.
void tell(Setup const& setup, Error const& error);

/// Collective, bounded: checks, carries the ids over MPI, starts NCCL and polls it until the
/// communicator stands. Returns an ncclComm_t. @throws Error and leaves nothing behind
void* connect(Setup const& setup);

}  // namespace berth::nccl
