// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sys/process.hpp>
#include <sys/wait.h>

namespace berth {
namespace {

namespace fs = std::filesystem;

/// A child that waits for its end.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
  }
  ~Sleeper() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Sleeper(Sleeper const&) = delete;
  Sleeper& operator=(Sleeper const&) = delete;
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_;
};

bool soon(std::function<bool()> const& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(Process, SeesItself) {
  auto const state = sys::ProcFacts().state(sys::own_pid(), sys::own_start_time());
  EXPECT_TRUE(state.alive);
  EXPECT_EQ(state.state, 'R');
  EXPECT_GT(state.start_time, 0U);
}

TEST(Process, SeesThatAnotherIsStoppedAndContinued) {
  Sleeper const child;
  sys::ProcFacts const facts;
  kill(child.pid(), SIGSTOP);
  EXPECT_TRUE(soon([&] { return facts.state(child.pid(), 0).state == 'T'; }));
  EXPECT_TRUE(facts.state(child.pid(), 0).alive);
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(soon([&] { return facts.state(child.pid(), 0).state == 'S'; }));
}

TEST(Process, IsDeadAsAZombieAndAfterwards) {
  sys::ProcFacts const facts;
  int pid = 0;
  {
    Sleeper const child;
    pid = child.pid();
    auto const start = facts.state(pid, 0).start_time;
    sys::ProcessHandle const handle(pid, start);
    EXPECT_FALSE(handle.ended());
    kill(pid, SIGKILL);
    EXPECT_TRUE(soon([&] { return handle.ended(); }));
    EXPECT_FALSE(facts.state(pid, start).alive);
  }
  EXPECT_FALSE(facts.state(pid, 0).alive);
  EXPECT_TRUE(sys::ProcessHandle(pid, 0).ended());
}

TEST(Process, IsAnotherWhenItsStartTimeDiffers) {
  Sleeper const child;
  auto const start = sys::ProcFacts().state(child.pid(), 0).start_time;
  EXPECT_TRUE(sys::ProcFacts().state(child.pid(), start).alive);
  EXPECT_FALSE(sys::ProcFacts().state(child.pid(), start + 1).alive);
  EXPECT_TRUE(sys::ProcessHandle(child.pid(), start + 1).ended());
}

TEST(Process, HandleMoves) {
  Sleeper const child;
  sys::ProcessHandle first(child.pid(), 0);
  sys::ProcessHandle second(std::move(first));
  EXPECT_FALSE(second.ended());
  first = std::move(second);
  EXPECT_FALSE(first.ended());
}

TEST(Process, MayHaveAnyName) {
  fs::path const root =
      fs::temp_directory_path() / ("berth-process-test-" + std::to_string(getpid()));
  fs::create_directories(root / "proc/42");
  std::string const tail = " 1 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 987654 1000 10\n";
  std::ofstream(root / "proc/42/stat") << "42 (a) Z (b c) t" << tail;
  std::ofstream(root / "proc/42/status") << "Name:\ta) Z (b c\nTracerPid:\t77\n";
  auto const state = sys::ProcFacts(root.string()).state(42, 987654);
  EXPECT_TRUE(state.alive);
  EXPECT_EQ(state.state, 't');
  EXPECT_EQ(state.tracer, 77);
  EXPECT_EQ(state.start_time, 987654U);
  std::ofstream(root / "proc/42/stat") << "42 (cut";
  EXPECT_FALSE(sys::ProcFacts(root.string()).state(42, 0).alive);
  EXPECT_FALSE(sys::ProcFacts(root.string()).state(43, 0).alive);
  fs::remove_all(root);
}

TEST(Process, CountsItsThreads) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer runs a thread of its own";
#endif
  int const before = sys::thread_count();
  ASSERT_GE(before, 1);
  std::jthread const other([](std::stop_token const& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(sys::thread_count(), before + 1);
}

TEST(Process, EndsAtOnceWithoutExitHandlers) {
  pid_t const child = fork();
  if (child == 0) {
    std::atexit([] { _exit(1); });
    sys::end_process(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
}

}  // namespace
}  // namespace berth
