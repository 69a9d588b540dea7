// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <limits>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <sys/host.hpp>
#include <sys/process.hpp>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace berth::sys {
namespace {

// A field of /proc/<pid>/status such as "Threads:\t3"; `fallback` when absent.
int status_field(std::string const& status, std::string_view name, int fallback) {
  for (std::size_t at = 0; at < status.size();) {
    std::size_t const end = std::min(status.find('\n', at), status.size());
    std::string_view const line(status.data() + at, end - at);
    if (line.substr(0, name.size()) == name) {
      auto const value = base::parse_integer(base::trim(line.substr(name.size())), 0,
                                             std::numeric_limits<int>::max());
      return value ? static_cast<int>(*value) : fallback;
    }
    at = end + 1;
  }
  return fallback;
}

// Fills state and start_time from /proc/<pid>/stat; false when the text is not one.
// The command name stands in parentheses and may contain anything, so the last ')' ends it.
bool parse_stat(std::string const& text, ProcessState& into) {
  std::size_t const name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  auto const fields = base::split(base::trim(std::string_view(text).substr(name_end + 1)), ' ');
  constexpr std::size_t start_time_field = 19;  // the 22nd of the line; the state is the 3rd
  if (fields.size() <= start_time_field || fields[0].size() != 1) return false;
  auto const start =
      base::parse_integer(fields[start_time_field], 0, std::numeric_limits<long long>::max());
  if (!start) return false;
  into.state = fields[0][0];
  into.start_time = static_cast<std::uint64_t>(*start);
  return true;
}

bool is_dead(char state) {
  return state == 'Z' || state == 'X' || state == 'x';
}

ProcessState read_state(std::string const& root, int pid, std::uint64_t start_time) {
  ProcessState result;
  if (pid <= 0) return result;
  std::string const folder = root + "/proc/" + std::to_string(pid);
  if (!parse_stat(read_small_file(folder + "/stat"), result)) {
    // /proc may be hidden (hidepid, a sandbox); the kernel still knows whether the number lives.
    result.alive = root.empty() && (kill(pid, 0) == 0 || errno == EPERM);
    return result;
  }
  bool const same = start_time == 0 || start_time == result.start_time;
  result.alive = same && !is_dead(result.state);
  if (result.alive) {
    result.tracer = status_field(read_small_file(folder + "/status"), "TracerPid:", 0);
  }
  return result;
}

}  // namespace

ProcessState ProcFacts::state(int pid, std::uint64_t start_time) const {
  try {
    return read_state(root_, pid, start_time);
  } catch (...) {
    // Out of memory: nothing was learnt, and nobody is declared dead for that.
    ProcessState unknown;
    unknown.alive = true;
    return unknown;
  }
}

ProcessHandle::ProcessHandle(int pid, std::uint64_t start_time) noexcept
    : pid_(pid), start_time_(start_time) {
#ifdef SYS_pidfd_open
  if (pid > 0) descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
#endif
  // The number may have been given to another process before it was opened: then /proc decides.
  if (descriptor_ >= 0 && !ProcFacts().state(pid, start_time).alive) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

ProcessHandle::ProcessHandle(ProcessHandle&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      start_time_(other.start_time_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

ProcessHandle& ProcessHandle::operator=(ProcessHandle&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    pid_ = std::exchange(other.pid_, 0);
    start_time_ = other.start_time_;
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

ProcessHandle::~ProcessHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ProcessHandle::ended() const noexcept {
  if (pid_ <= 0) return true;
  if (descriptor_ >= 0) {
    pollfd query{descriptor_, POLLIN, 0};
    return poll(&query, 1, 0) == 1 && (query.revents & POLLIN) != 0;
  }
  return !ProcFacts().state(pid_, start_time_).alive;
}

int own_pid() noexcept {
  return getpid();
}

std::uint64_t own_start_time() noexcept {
  return ProcFacts().state(getpid(), 0).start_time;
}

std::uint64_t own_pid_namespace() noexcept {
  struct stat found {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

int thread_count() noexcept {
  try {
    return status_field(read_small_file("/proc/self/status"), "Threads:", 0);
  } catch (...) {
    return 0;
  }
}

void end_process(int code) noexcept {
  _exit(code);
}

}  // namespace berth::sys
