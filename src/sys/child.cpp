// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <exception>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <base/error.hpp>
#include <sys/child.hpp>
#include <sys/descriptor.hpp>
#include <sys/host.hpp>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

namespace berth::sys {
namespace {

using std::chrono::steady_clock;

// First byte of what the child sends, so that an early end cannot look like an answer.
constexpr char tag_done = 'D';
constexpr char tag_threw = 'T';
// Last byte, so that a cut answer cannot look complete.
constexpr char tag_end = 'E';

// Sanitizers reserve terabytes of address space, which no limit could allow for.
#if defined(__has_feature)
#define BERTH_HAS_FEATURE(name) __has_feature(name)
#else
#define BERTH_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    BERTH_HAS_FEATURE(address_sanitizer) || BERTH_HAS_FEATURE(thread_sanitizer)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

void limit(int resource, rlim_t value) {
  rlimit const limits{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

std::size_t address_space_bytes() {
  std::string const text = read_small_file("/proc/self/statm");
  return std::strtoull(text.c_str(), nullptr, 10) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void confine(ChildLimits const& limits, pid_t parent) {
  // Handlers of the parent (an MPI's stack printer) have no business here.
  for (int const number :
       {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGXCPU, SIGPROF}) {
    signal(number, SIG_DFL);
  }
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent went before the line above
  limit(RLIMIT_CORE, 0);
  // The timer is precise; the limit cannot be taken back by what runs here.
  itimerval timer{};
  timer.it_value.tv_sec = limits.cpu.count() / 1000;
  timer.it_value.tv_usec = limits.cpu.count() % 1000 * 1000;
  setitimer(ITIMER_PROF, &timer, nullptr);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu.count() / 1000 + 1));
  if (!is_sanitized) limit(RLIMIT_AS, address_space_bytes() + limits.memory_bytes);
  int const null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; null >= 0 && stream <= 2; ++stream) dup2(null, stream);
}

void send(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t const sent = ::write(pipe, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) _exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

[[noreturn]] void be_child(std::function<std::string()> const& work, int pipe) {
  try {
    std::string const answer = work();
    send(pipe, {&tag_done, 1});
    send(pipe, answer);
  } catch (std::exception const& error) {
    send(pipe, {&tag_threw, 1});
    send(pipe, error.what());
  } catch (...) {
    _exit(1);
  }
  send(pipe, {&tag_end, 1});
  _exit(0);
}

enum class Collected { all, too_slow, too_long };

// Reads until the child closes the pipe.
Collected collect(int pipe, ChildLimits const& limits, std::string& into) {
  auto const end = steady_clock::now() + limits.wall;
  std::array<char, 65536> buffer{};
  for (;;) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) return Collected::too_slow;
    pollfd query{pipe, POLLIN, 0};
    int const ready = poll(&query, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) base::fail_errno("poll", errno);
    if (ready <= 0) continue;
    ssize_t const got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Collected::all;
    into.append(buffer.data(), static_cast<std::size_t>(got));
    if (into.size() > limits.output_bytes + 2) return Collected::too_long;
  }
}

// Waits for a child that has closed its pipe or was killed; kills it when it dawdles.
int reap(pid_t child, bool kill_first) {
  if (kill_first) kill(child, SIGKILL);
  int status = 0;
  auto const end = steady_clock::now() + std::chrono::seconds(1);
  for (;;) {
    pid_t const reaped = waitpid(child, &status, WNOHANG);
    if (reaped == child) return status;
    if (reaped < 0 && errno != EINTR) return 0;  // somebody else (SIGCHLD ignored) reaped it
    if (steady_clock::now() > end) kill(child, SIGKILL);
    usleep(200);
  }
}

/// Kills and reaps the child when collecting throws.
class Reaper {
 public:
  explicit Reaper(pid_t child) : child_(child) {}
  ~Reaper() {
    if (child_ > 0) reap(child_, true);
  }
  Reaper(Reaper const&) = delete;
  Reaper& operator=(Reaper const&) = delete;
  int finish(bool kill_first) { return reap(std::exchange(child_, 0), kill_first); }

 private:
  pid_t child_;
};

}  // namespace

ChildResult run_in_child(std::function<std::string()> const& work, ChildLimits const& limits) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) base::fail_errno("pipe", errno);
  Descriptor const from(ends[0]);
  Descriptor to(ends[1]);
  pid_t const parent = getpid();
  pid_t const child = fork();
  if (child < 0) base::fail_errno("fork", errno);
  if (child == 0) {
    confine(limits, parent);
    be_child(work, to.get());
  }
  Reaper reaper(child);
  to.reset();
  ChildResult result;
  Collected const collected = collect(from.get(), limits, result.output);
  int const status = reaper.finish(collected != Collected::all);
  bool const complete = collected == Collected::all && result.output.size() >= 2 &&
                        result.output.back() == tag_end &&
                        (result.output[0] == tag_done || result.output[0] == tag_threw);
  if (complete) {
    result.end = result.output[0] == tag_done ? ChildEnd::done : ChildEnd::threw;
    result.output = result.output.substr(1, result.output.size() - 2);
    return result;
  }
  result.output.clear();
  bool const out_of_time =
      WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGXCPU);
  if (collected == Collected::too_slow || out_of_time) {
    result.end = ChildEnd::too_slow;
  } else if (collected == Collected::too_long) {
    result.end = ChildEnd::too_long;
  } else if (WIFSIGNALED(status)) {
    result.end = ChildEnd::signalled;
    result.number = WTERMSIG(status);
  } else {
    result.end = ChildEnd::exited;
    result.number = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  }
  return result;
}

}  // namespace berth::sys
