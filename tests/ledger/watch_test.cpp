// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <support/captured.hpp>

#include <ledger/fleet.hpp>
#include <sys/process.hpp>

namespace berth::ledger {
namespace {

using test::comes_true;
using test::Fleet;
using test::milliseconds;
using test::Outcome;
using test::rest;

constexpr milliseconds long_deadline{10'000};

/// How often the threads of this process other than the caller have gone to sleep so far.
std::uint64_t sleeps_of_others() {
  std::uint64_t sum = 0;
  std::string const own = std::to_string(sys::own_pid());
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      constexpr std::string_view key = "voluntary_ctxt_switches:";
      if (line.rfind(key, 0) == 0) sum += std::stoull(line.substr(key.size()));
    }
  }
  return sum;
}

/// True when the other threads stay asleep for a while, which may take them a moment.
bool fall_asleep() {
  return comes_true([] {
    std::uint64_t const before = sleeps_of_others();
    rest(milliseconds(30));
    // A thread sanitizer has a thread of its own that wakes ten times a second.
    return sleeps_of_others() <= before + 1;
  });
}

TEST(Watch, ReturnsWhenTheWaitIsSatisfied) {
  Fleet fleet(4);
  auto const outcomes = fleet.run(long_deadline, [&](int rank, Watch& watch) {
    for (std::uint64_t number = 1; number <= 200; ++number) {
      if (rank == 2 && number == 100) rest(milliseconds(30));
      fleet.all_enter(rank, watch, number);
    }
  });
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(fleet.of(rank).own().waiting.kind.load(), WaitKind::none);
  }
}

TEST(Watch, AnnouncesWhomItWaitsForAndMovesItsBeat) {
  Fleet fleet(2);
  Waiting const& seen = fleet.of(0).own().waiting;
  std::uint64_t const before = seen.beat;
  std::atomic<bool> is_seen{false};
  fleet.run(long_deadline, [&](int rank, Watch& watch) {
    if (rank == 0) {
      fleet.enter(0, 1);
      watch.until_ready([&] { return is_seen && seen.beat > before + 5; }, 1);
    } else {
      EXPECT_TRUE(comes_true([&] { return seen.kind == WaitKind::waiting && seen.peer == 1; }));
      is_seen = true;
    }
  });
  EXPECT_GT(seen.beat.load(), before);
  Recorded const& entry = fleet.of(0).own().ring[1];
  EXPECT_GT(entry.waited_from_ns.load(), 0U);
  EXPECT_GE(entry.waited_to_ns.load(), entry.waited_from_ns.load());
}

TEST(Watch, MakesMpiProgressInLongWaitsOnly) {
  Fleet fleet(1);
  WatchSetup setup = fleet.setup(0, long_deadline);
  int calls = 0;
  setup.progress = [&] { ++calls; };
  setup.spins = 1000;
  Watch watch(std::move(setup));
  watch.attach(fleet.of(0));
  int looks = 0;
  watch.until_ready([&] { return ++looks > 900; });
  EXPECT_EQ(calls, 0);
  watch.until_ready([&] { return calls >= 3; });
  EXPECT_EQ(calls, 3);
}

TEST(Watchdog, StartsWithTheFirstLongWait) {
  Fleet fleet(1);
  int const before = sys::thread_count();
  Watch watch(fleet.setup(0, long_deadline));
  watch.attach(fleet.of(0));
  watch.set_limits({long_deadline, true});
  watch.set_hosts({"n0"});
  watch.until_ready([] { return true; });
  EXPECT_EQ(sys::thread_count(), before);
  int looks = 0;
  watch.until_ready([&] { return ++looks > 40; });
  EXPECT_EQ(sys::thread_count(), before + 1);
}

TEST(Watchdog, EndsWithItsWatch) {
  Fleet fleet(1);
  int const before = sys::thread_count();
  {
    Watch watch(fleet.setup(0, long_deadline));
    watch.attach(fleet.of(0));
    Watch::Awake const awake(watch);
    EXPECT_EQ(sys::thread_count(), before + 1);
  }
  EXPECT_EQ(sys::thread_count(), before);
}

TEST(Watchdog, StandsDownAndComesBack) {
  Fleet fleet(2);
  int const before = sys::thread_count();
  Watch watch(fleet.setup(0, long_deadline));
  watch.attach(fleet.of(0));
  watch.stand_down();
  int looks = 0;
  watch.until_ready([&] { return ++looks > 40; });
  watch.stand_down();
  EXPECT_EQ(sys::thread_count(), before);
  fleet.facts.kill(1);
  EXPECT_THROW(watch.until_ready([] { return false; }), Error);
}

TEST(Watchdog, SleepsWhileNobodyWaits) {
  Fleet fleet(1);
  WatchSetup setup = fleet.setup(0, long_deadline);
  setup.tick = milliseconds(1);
  Watch watch(std::move(setup));
  watch.attach(fleet.of(0));
  std::atomic<int> looks{0};
  watch.until_ready([&] { return ++looks > 40; });
  std::uint64_t const before = fleet.clock.looks();
  EXPECT_TRUE(fall_asleep());
  EXPECT_EQ(fleet.clock.looks(), before);
}

TEST(Watchdog, WakesForTheNextLongWait) {
  Fleet fleet(2);
  WatchSetup setup = fleet.setup(0, long_deadline);
  setup.tick = milliseconds(1);
  Watch watch(std::move(setup));
  watch.attach(fleet.of(0));
  for (int round = 0; round < 3; ++round) {
    int looks = 0;
    watch.until_ready([&] { return ++looks > 40; });
    EXPECT_TRUE(fall_asleep());
  }
  fleet.facts.kill(1);
  EXPECT_THROW(watch.until_ready([] { return false; }), Error);
}

TEST(Watchdog, StaysAwakeWhenAsked) {
  Fleet fleet(1);
  WatchSetup setup = fleet.setup(0, long_deadline);
  setup.tick = milliseconds(1);
  Watch watch(std::move(setup));
  watch.attach(fleet.of(0));
  {
    Watch::Awake const awake(watch);
    rest(milliseconds(40));  // longer than its twenty idle ticks
    std::uint64_t const before = sleeps_of_others();
    EXPECT_TRUE(comes_true([&] { return sleeps_of_others() > before + 10; }));
    for (int i = 0; i < 100; ++i) Watch::Blocked const blocked(watch, -1);
  }
  EXPECT_TRUE(fall_asleep());
}

TEST(Watchdog, AgreesWithChangesWhileItLooks) {
  Fleet fleet(2);
  WatchSetup setup = fleet.setup(0, milliseconds(1));
  setup.tick = std::chrono::microseconds(100);
  setup.limits.is_final = false;
  base::Log const silent(base::Level::error, {}, {}, -1);
  setup.log = &silent;
  Watch watch(std::move(setup));
  Watch::Awake const awake(watch);
  auto const until = std::chrono::steady_clock::now() + milliseconds(60);
  for (int round = 0; std::chrono::steady_clock::now() < until; ++round) {
    watch.set_rank(round % 2);
    watch.set_hosts({"n" + std::to_string(round), "m"});
    watch.set_limits({milliseconds(1 + round % 2), false});
    Watch::Blocked const blocked(watch, -1);
    if (round % 8 == 0) rest(milliseconds(1));
    watch.attach(fleet.of(0));
  }
  EXPECT_FALSE(watch.has_verdict());
}

TEST(Watchdog, IsStoppedInTheMiddleOfALook) {
  for (int round = 0; round < 25; ++round) {
    Fleet fleet(2);
    WatchSetup setup = fleet.setup(0, long_deadline);
    setup.tick = std::chrono::microseconds(50);
    Watch watch(std::move(setup));
    watch.attach(fleet.of(0));
    std::uint64_t const asked = fleet.facts.asked();
    watch.until_ready([&] { return fleet.facts.asked() > asked + 5; });
  }
}

TEST(Limits, ThatAreNotFinalReportTheLateRankOnceAndGoOn) {
  Fleet fleet(3);
  test::Captured captured(2);
  fleet.enter(0, 1);
  fleet.enter(2, 1);
  Progress const& late = fleet.of(1).own().progress;
  auto const outcomes = fleet.run(
      milliseconds(50),
      [&](int rank, Watch& watch) {
        if (rank == 1) {
          EXPECT_TRUE(comes_true([&] { return fleet.of(1).header().reported != 0; }));
          rest(milliseconds(80));  // time for the others to report as well
          fleet.enter(1, 1);
        }
        watch.until_ready([&] { return late.entered.load(std::memory_order_acquire) == 1; });
      },
      [](WatchSetup& setup) { setup.limits.is_final = false; });
  std::vector<std::string> const lines = captured.writes();
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
  // Only of this one: on a crowded machine a rank that is about to leave may be late as well.
  std::string const expected =
      "warn: rank 1@n0: late: pid 1001, alive but asleep (state S), in phase bench, before its "
      "first operation";
  EXPECT_EQ(std::count_if(
                lines.begin(), lines.end(),
                [&](std::string const& line) { return line.find(expected) != std::string::npos; }),
            1);
}

TEST(Limits, ThatAreNotFinalReportAgainAfterSomethingMoved) {
  Fleet fleet(2);
  test::Captured captured(2);
  std::atomic<std::uint64_t> const& reported = fleet.of(1).header().reported;
  auto const outcomes = fleet.run(
      milliseconds(50),
      [&](int rank, Watch& watch) {
        for (std::uint64_t number = 1; number <= 2; ++number) {
          std::uint64_t const before = reported;
          if (rank == 1) {
            EXPECT_TRUE(comes_true([&] { return reported != before; }));
          }
          fleet.all_enter(rank, watch, number);
        }
      },
      [](WatchSetup& setup) { setup.limits.is_final = false; });
  EXPECT_GE(captured.writes().size(), 2U);
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
}

TEST(Limits, ThatAreNotFinalStillEndTheWaitForADeadRank) {
  Fleet fleet(2);
  test::Captured captured(2);
  auto const outcomes = fleet.run(
      milliseconds(30),
      [&](int rank, Watch& watch) {
        if (rank == 1) {
          rest(milliseconds(80));
          fleet.facts.kill(1);
          return;
        }
        fleet.all_enter(rank, watch, 1);
      },
      [](WatchSetup& setup) { setup.limits.is_final = false; });
  ASSERT_TRUE(outcomes[0].error);
  EXPECT_EQ(outcomes[0].error->code(), Errc::lost);
  EXPECT_EQ(outcomes[0].error->rank(), 1);
  EXPECT_LT(outcomes[0].seconds, 2.0);
}

TEST(Limits, OfZeroNeverExpire) {
  Fleet fleet(2);
  auto const outcomes = fleet.run(milliseconds(0), [&](int rank, Watch& watch) {
    if (rank == 1) rest(milliseconds(80));
    fleet.all_enter(rank, watch, 1);
  });
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
}

}  // namespace
}  // namespace berth::ledger
