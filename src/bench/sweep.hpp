// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <comm/impl.hpp>
#include <model/sweep.hpp>

namespace berth::bench {

/// What to measure. Must be the same on every rank.
struct Plan {
  std::vector<model::Collective> collectives = {model::Collective::all_reduce};
  /// Bytes of the larger of a rank's two buffers, as nccl-tests has it; each is rounded down to
  /// whole elements for every rank, and left out when nothing remains.
  std::vector<std::size_t> sizes;
  std::vector<Type> types = {Type::float32};
  std::vector<Op> ops = {Op::sum};  ///< where something is reduced; elsewhere none of them
  /// Timed samples of each case: exactly so many; absent: at least 20, and more of them while a
  /// sweep's share of about 15 s allows.
  std::optional<int> iterations;
  int warmup = 5;        ///< untimed operations before
  bool check = true;     ///< compare the result with coded data first
  bool compare = false;  ///< measure the `mpi` reference in turn
  int graph = 0;         ///< device memory: a batch is recorded once and launched so often; 0: not
  bool is_registered = false;  ///< device memory: buffers are registered with NCCL first
};

/// How far a sweep is; for the moving line on a terminal.
struct Progress {
  int done = 0;           ///< finished cases
  int total = 0;          ///< all cases
  std::size_t bytes = 0;  ///< size of the case that runs now
  double seconds_left = 0;
};

/// Measures collectives on the communicator's backend. Collective; the result is the same on every
/// rank. A sample is the mean time of a batch of operations that lasts about 200 microseconds, and
/// the slowest rank's. Inputs are written anew before every batch, and a barrier of the backend
/// starts all ranks together. With `compare` the backends take turns in one run, round by round.
/// @param progress called on this rank before each case; may be empty
/// @throws Error out_of_memory, invalid_argument, mismatch, lost, timeout, aborted, mpi
model::Sweep sweep(Communicator::Impl& impl, Plan const& plan,
                   std::function<void(Progress const&)> const& progress);

}  // namespace berth::bench
