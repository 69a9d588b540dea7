// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ledger/layout.hpp>
#include <ledger/ledger.hpp>

/// From facts to a verdict. Pure.
namespace berth::ledger {

/// What is known of one local rank when a wait has taken too long.
struct RankView {
  int rank = -1;
  int pid = 0;
  bool alive = true;
  char state = 'R';  ///< as sys::ProcessState::state; '?': it cannot be seen from here
  Phase phase = Phase::none;
  std::uint64_t entered = 0;
  std::uint64_t left = 0;
  WaitKind wait = WaitKind::none;
  int peer = -1;           ///< rank it says it waits for
  bool beats = false;      ///< its waiting thread gave a sign of life lately
  bool beat_known = true;  ///< false: inside MPI without a probe
  std::string operation;   ///< "all_reduce of 1024 float32 (sum)" of its last operation
};

/// One rank that is at fault.
struct Blame {
  int rank = -1;
  std::string kind;  ///< "dead", "stopped", "late", "silent", "missing"
  std::string
      detail;  ///< "pid 4211, stopped (state T), in phase bench, operation 17: all_reduce ..."
  std::string host = {};  ///< where it runs, when whoever blames it knows; empty: see the roster
};

/// Who is at fault, as rank `self_rank` sees it. Dead ranks always are. When a deadline `expired`:
/// stopped ones; else those that neither wait with a beating heart nor have done their part of what
/// the others wait for (`self_rank` may be among them: its own thread may loop in a signal
/// handler); else ranks of other hosts that somebody here waits for. Ranks that have closed never
/// are. Empty: nobody can be named.
std::vector<Blame> judge(std::vector<RankView> const& ranks, int self_rank, bool expired);

/// One line of at most 479 bytes for several blames: rank, host, pid, state, phase, operation.
Verdict compose(std::vector<Blame> const& blames, std::vector<std::string> const& hosts,
                double waited_seconds);

/// "all_reduce of 1,024 float32 (sum)".
std::string describe(model::Descriptor const& operation);

}  // namespace berth::ledger
