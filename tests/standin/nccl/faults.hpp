// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Faults that a test asks for: STANDIN_NCCL_FAULTS="RANK:FAULT[;RANK:FAULT...]".
///
/// RANK is a rank of the communicator, or * for each. #C after a fault keeps it to the C-th
/// communicator that this process made, counted from 1, children of a split or shrink included.
/// Operations are counted on each communicator from 1, in the order in which they run; each
/// collective, send and receive counts.
///   init_stuck      never checks in: 7 until it is aborted, on the others too
///   init_error=N@MS the state becomes N after so many milliseconds of the init
///   stop_init       the process stops (SIGSTOP) once it has checked in
///   die_init        _exit once it has checked in and everybody knows everybody
///   late_init_ms=T  checks in T ms late
///   async=N@K       the async error becomes N after operation K (0: after the init)
///   die@K           _exit in operation K, before it moves anything
///   wrong_bit@K     one bit in the middle of the result of operation K is flipped
///   late_ms=T@K     operation K begins T ms late
///   abort_hangs     ncclCommAbort never returns
///   abort_ms=T      ncclCommAbort takes T ms longer
///   leak_root       an abort leaves the root of the id behind until all have checked in, as NCCL
///   id_fails=N      the first N ncclGetUniqueId of the process return 2; RANK does not matter
#pragma once

#include <string>
#include <vector>

#include "nccl_api.hpp"

namespace standin {

struct Fault {
  std::string name;
  int rank = -1;         ///< -1: every rank
  int communicator = 0;  ///< 0: every communicator of the process
  long long value = 0;   ///< N or T
  long long at = 0;      ///< K or MS
};

/// The faults of one communicator.
class Faults {
 public:
  Faults() = default;

  /// Reads the environment; bad text ends the process. `communicator` counts from 1.
  Faults(int rank, int communicator);

  /// The fault of this name, or null.
  Fault const* find(char const* name) const;

  /// The fault of this name for operation `operation`, or null.
  Fault const* find(char const* name, long long operation) const;

 private:
  std::vector<Fault> mine_;
};

/// True when this ncclGetUniqueId, the n-th of the process from 1, is to fail.
bool id_fails(int call);

}  // namespace standin
