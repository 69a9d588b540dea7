// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

/// Work that may crash, hang or eat memory, done in a forked child.
namespace berth::sys {

/// What the child may use.
struct ChildLimits {
  std::size_t output_bytes = 64UL << 20;   ///< the most it may send back
  std::size_t memory_bytes = 512UL << 20;  ///< address space beyond what the parent has now
  std::chrono::milliseconds cpu{2000};     ///< processor time; then it is killed
  std::chrono::milliseconds wall{10000};   ///< then it is killed, however little it could run
};

/// How a child ended.
enum class ChildEnd {
  done,       ///< `output` is what the work returned, complete
  threw,      ///< the work threw; `output` is the message
  signalled,  ///< it died of signal `number`
  exited,     ///< it left with code `number` without an answer
  too_slow,   ///< it was killed at a time limit
  too_long,   ///< it sent more than output_bytes and was killed
};

/// Outcome of run_in_child.
struct ChildResult {
  ChildEnd end = ChildEnd::exited;
  int number = 0;
  std::string output;
};

/// Runs `work` in a forked child whose standard streams are /dev/null, without core file, and
/// collects what it returns. The child is gone when this returns; nothing of it is believed but
/// bytes. Not for processes that have initialised MPI or run other threads. @throws Error system
ChildResult run_in_child(std::function<std::string()> const& work, ChildLimits const& limits);

}  // namespace berth::sys
