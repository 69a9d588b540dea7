// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ledger/ledger.hpp>
#include <ledger/watch.hpp>
#include <sys/process.hpp>
#include <sys/shared_memory.hpp>
#include <sys/wait.h>

namespace berth::ledger {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds never{0};

/// Two ranks that are real processes: this one is rank 0, a child of it is rank 1.
class ProcessPair {
 public:
  using Body = std::function<void(Watch&)>;

  /// @param body what rank 1 does with its watch; then it sleeps for ever
  explicit ProcessPair(milliseconds deadline, Body const& body = {})
      : deadline_(deadline),
        memory_(sys::SharedMemory::create(Ledger::bytes(2), sys::SharedKind::memfd)),
        ledger_(memory_.data(), 2, 0) {
    ledger_.format();
    ledger_.announce(0, sys::own_pid(), sys::own_start_time());
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("fork");
    if (child_ == 0) be_rank_1(body);
    while (ledger_.record(1).progress.phase.load(std::memory_order_acquire) != Phase::running) {
      std::this_thread::yield();
    }
  }
  ~ProcessPair() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  ProcessPair(ProcessPair const&) = delete;
  ProcessPair& operator=(ProcessPair const&) = delete;

  [[nodiscard]] pid_t child() const { return child_; }
  [[nodiscard]] Ledger const& ledger() const { return ledger_; }
  /// The child's exit code, -1 when a signal ended it.
  int wait_for_child() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] WatchSetup setup(int rank, OnLost on_lost) const {
    WatchSetup setup;
    setup.rank = rank;
    setup.hosts = {"here", "here"};
    setup.on_lost = on_lost;
    setup.limits = {deadline_, true};
    setup.tick = milliseconds(10);
    setup.spins = 20;
    setup.clock = &clock_;
    setup.facts = &facts_;
    setup.log = &log_;
    return setup;
  }
  /// Rank 0 waits for ever; gives the text of the Error and the time until it came.
  std::string wait_for_error(milliseconds& time) const {
    Watch watch(setup(0, OnLost::raise));
    watch.attach(ledger_);
    auto const start = std::chrono::steady_clock::now();
    std::string text;
    try {
      watch.until_ready([] { return false; }, 1);
    } catch (Error const& error) {
      text = error.what();
    }
    time = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
    return text;
  }

 private:
  [[noreturn]] void be_rank_1(Body const& body) const {
    Ledger own(memory_.data(), 2, 1);
    own.announce(1, sys::own_pid(), sys::own_start_time());
    Watch watch(setup(1, OnLost::exit));
    watch.attach(own);
    own.set_phase(Phase::running);
    if (body) body(watch);
    while (true) pause();
  }

  milliseconds deadline_;
  base::SteadyClock clock_;
  sys::ProcFacts facts_;
  base::Log log_;
  sys::SharedMemory memory_;
  Ledger ledger_;
  pid_t child_ = -1;
};

TEST(Process, ThatIsKilledIsNamedWithinTicks) {
  ProcessPair pair(never);
  kill(pair.child(), SIGKILL);
  milliseconds time{};
  EXPECT_THAT(pair.wait_for_error(time),
              HasSubstr("rank 1@here: dead: pid " + std::to_string(pair.child())));
  EXPECT_LT(time, milliseconds(2000));
}

TEST(Process, ThatIsStoppedIsNamedAtTheDeadline) {
  ProcessPair pair(milliseconds(100));
  kill(pair.child(), SIGSTOP);
  milliseconds time{};
  EXPECT_THAT(pair.wait_for_error(time), HasSubstr("process stopped (state T), in phase running"));
  EXPECT_GE(time, milliseconds(95));
  EXPECT_LT(time, milliseconds(3000));
}

TEST(Process, ThatNeverComesIsNamedAtTheDeadline) {
  ProcessPair pair(milliseconds(100));
  milliseconds time{};
  EXPECT_THAT(pair.wait_for_error(time), HasSubstr("rank 1@here: late"));
}

TEST(Process, ThatSitsInABlockingCallIsEndedByItsWatchdog) {
  ProcessPair pair(never, [](Watch& watch) {
    Watch::Blocked const blocked(watch, 0);
    while (true) pause();
  });
  pair.ledger().pronounce({Errc::lost, 0, "dead", "a verdict of the test; the line is expected"});
  EXPECT_EQ(pair.wait_for_child(), exit_code(Errc::lost));
}

}  // namespace
}  // namespace berth::ledger
