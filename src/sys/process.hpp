// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Facts about processes of this host.
namespace berth::sys {

/// What can be seen of a process.
struct ProcessState {
  bool alive = false;  ///< false: gone, a zombie, or its number belongs to another process now
  char state = '?';    ///< R S D T t Z of /proc/<pid>/stat
  int tracer = 0;      ///< pid of its debugger; 0: none
  std::uint64_t start_time = 0;  ///< clock ticks after boot; identifies the process with its pid
};

/// Where process facts come from; injected, so that ranks can be threads in tests.
class ProcessFacts {
 public:
  virtual ~ProcessFacts() = default;
  /// State of the process `pid` that had started at `start_time` (0: do not compare). Never throws.
  [[nodiscard]] virtual ProcessState state(int pid, std::uint64_t start_time) const = 0;
};

/// From /proc under a root prefix.
class ProcFacts final : public ProcessFacts {
 public:
  explicit ProcFacts(std::string root = {}) : root_(std::move(root)) {}
  [[nodiscard]] ProcessState state(int pid, std::uint64_t start_time) const override;

 private:
  std::string root_;
};

/// A pidfd: notices the end of a process even when its number is used again.
class ProcessHandle {
 public:
  ProcessHandle() = default;
  /// Opens `pid`; when the kernel refuses, ended() falls back to /proc. Never throws.
  ProcessHandle(int pid, std::uint64_t start_time) noexcept;
  ProcessHandle(ProcessHandle&& other) noexcept;
  ProcessHandle& operator=(ProcessHandle&& other) noexcept;
  ~ProcessHandle();
  /// True once the process has ended (a zombie counts). Local, does not wait.
  [[nodiscard]] bool ended() const noexcept;

 private:
  int pid_ = 0;
  std::uint64_t start_time_ = 0;
  int descriptor_ = -1;
};

/// This process's number and start time.
int own_pid() noexcept;
std::uint64_t own_start_time() noexcept;
/// Which PID namespace this process is in: numbers of processes mean something only to those in the
/// same one. 0: not known.
std::uint64_t own_pid_namespace() noexcept;
/// Threads of this process; 1 when only the main thread runs. 0: not known.
int thread_count() noexcept;
/// Ends this process at once without running exit handlers: the way out of a hanging MPI call.
[[noreturn]] void end_process(int code) noexcept;

}  // namespace berth::sys
