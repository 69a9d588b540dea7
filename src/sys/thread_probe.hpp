// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::sys {

/// Is the thread that sits inside a blocking MPI call alive in there, or does it loop elsewhere?
/// A real-time signal makes the thread note where it was: its program counter and the top of its
/// stack. Where that is — in a library of the MPI or not — is decided by the thread that asks.
/// The handler only stores numbers, and system calls restart; programs that cannot bear signals do
/// without a probe. At most one per process. An MPI linked statically into the program is not
/// recognised. Must outlive every thread that calls sample(); destroyed on the probed thread.
class ThreadProbe {
 public:
  /// Probes the calling thread, normally the main thread once MPI is initialised.
  /// @throws Error system when there is a probe already or no free real-time signal
  ThreadProbe();
  ThreadProbe(ThreadProbe const&) = delete;
  ThreadProbe& operator=(ThreadProbe const&) = delete;
  /// Takes the handler away again.
  ~ThreadProbe();

  /// True when the probed thread was found inside the MPI. Waits at most 20 ms for its answer; one
  /// that comes later counts for the next call. Called by one other thread at a time.
  [[nodiscard]] bool sample() noexcept;

  /// What a library is to the probe, by its file name.
  enum class Kind {
    mpi,     ///< the MPI or its transport
    system,  ///< libc and the like: the caller decides
    other,
  };
  /// @param path of a loaded library; empty: the program itself
  static Kind kind_of(std::string_view path) noexcept;

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    Kind kind;
  };
  void read_ranges();
  [[nodiscard]] Range const* find(std::uintptr_t address) const noexcept;
  [[nodiscard]] bool is_inside_mpi() noexcept;

  std::vector<Range> ranges_;  ///< executable parts of all loaded libraries, sorted
  int signal_ = 0;
  int thread_ = 0;
  std::uint32_t asked_ = 0;  ///< number of the last question
};

}  // namespace berth::sys
