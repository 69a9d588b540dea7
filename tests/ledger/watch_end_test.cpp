// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/captured.hpp>

#include <ledger/fleet.hpp>

namespace berth::ledger {
namespace {

using test::Captured;
using test::comes_true;
using test::Fleet;
using test::milliseconds;
using test::Outcome;
using test::rest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr milliseconds never{0};

/// Counts what the ends of a fleet's ranks would have done.
struct Ends {
  std::atomic<int> exits{0};
  std::atomic<int> code{-1};
  std::atomic<int> speeches{0};

  /// For Fleet::run(): OnLost::exit whose end only counts.
  Fleet::Adjust adjust() {
    return [this](WatchSetup& setup) {
      setup.on_lost = OnLost::exit;
      setup.end = [this](int with) {
        code = with;
        exits += 1;
      };
      setup.before_end = [this](Verdict const&) { speeches += 1; };
    };
  }
};

TEST(End, IsSpokenByExactlyOneRank) {
  Fleet fleet(4);
  Ends ends;
  Captured captured(2);
  fleet.run(
      never,
      [&](int rank, Watch& watch) {
        fleet.all_enter(rank, watch, 1);
        if (rank == 3) {
          fleet.facts.kill(3);
          return;
        }
        fleet.all_enter(rank, watch, 2);
      },
      ends.adjust());
  EXPECT_THAT(captured.writes(),
              ElementsAre("berth: rank 3@n1: dead: pid 1003, process gone, in phase bench, after "
                          "operation 1: all_reduce of 1,024 float32 (sum)\n"));
  EXPECT_EQ(ends.exits, 3);  // once in each process, whichever of its threads came first
  EXPECT_EQ(ends.speeches, 1);
  EXPECT_EQ(ends.code, exit_code(Errc::lost));
}

TEST(End, ComesToARankThatSitsInABlockingCall) {
  for (OnLost const on_lost : {OnLost::exit, OnLost::raise}) {
    Fleet fleet(3);
    Ends ends;
    Captured captured(2);
    std::atomic<int> in_call{0};
    auto const outcomes = fleet.run(
        never,
        [&](int rank, Watch& watch) {
          if (rank == 1) {
            EXPECT_TRUE(comes_true([&] { return in_call == 2; }));
            fleet.facts.kill(1);
            return;
          }
          fleet.enter(rank, 1);
          Watch::Blocked const blocked(watch, -1);
          in_call += 1;
          // Only the watchdog can end this.
          EXPECT_TRUE(comes_true([&] { return ends.exits == 2; }));
        },
        [&](WatchSetup& setup) {
          ends.adjust()(setup);
          setup.on_lost = on_lost;
        });
    EXPECT_EQ(ends.exits, 2);
    EXPECT_EQ(ends.speeches, 1);
    EXPECT_THAT(captured.writes(), ElementsAre(HasSubstr("rank 1@n0: dead")));
    EXPECT_LT(outcomes[0].seconds, 2.0);
  }
}

TEST(End, HappensOnceWhenBothThreadsOfARankComeToIt) {
  for (int round = 0; round < 30; ++round) {
    Fleet fleet(2);
    Ends ends;
    Captured captured(2);
    fleet.run(
        never,
        [&](int rank, Watch& watch) {
          fleet.all_enter(rank, watch, 1);
          if (rank == 1) watch.raise({Errc::mismatch, 1, "mismatch", "they differ"});
          // Rank 0's waiting thread and its watchdog see the verdict in any order.
          watch.until_ready([] { return false; });
        },
        [&](WatchSetup& setup) {
          ends.adjust()(setup);
          setup.tick = std::chrono::microseconds(50);
        });
    EXPECT_EQ(ends.exits, 2);
    EXPECT_EQ(ends.speeches, 1);
    EXPECT_THAT(captured.writes(), ElementsAre("berth: they differ\n"));
  }
}

TEST(End, WaitsForTheRankThatSpeaks) {
  Fleet fleet(2);
  Captured captured(2);
  std::atomic<bool> written{false};
  std::atomic<int> too_early{0};
  fleet.run(
      never,
      [&](int rank, Watch& watch) {
        fleet.all_enter(rank, watch, 1);
        if (rank == 1) watch.raise({Errc::mismatch, 1, "mismatch", "they differ"});
        watch.until_ready([] { return false; });
      },
      [&](WatchSetup& setup) {
        setup.on_lost = OnLost::exit;
        setup.before_end = [&](Verdict const& verdict) {
          EXPECT_EQ(verdict.kind, "mismatch");
          rest(milliseconds(100));
          written = true;
        };
        setup.end = [&](int) {
          if (!written) too_early += 1;
        };
      });
  EXPECT_EQ(too_early, 0);
  EXPECT_THAT(captured.writes(), SizeIs(1));
}

TEST(End, ComesThoughTheToolCannotWriteItsReport) {
  Fleet fleet(1);
  Ends ends;
  Captured captured(2);
  fleet.run(
      never,
      [&](int /*rank*/, Watch& watch) {
        watch.raise({Errc::mismatch, 0, "mismatch", "they differ"});
      },
      [&](WatchSetup& setup) {
        ends.adjust()(setup);
        setup.before_end = [](Verdict const&) { throw std::runtime_error("disk full"); };
      });
  EXPECT_EQ(ends.exits, 1);
  EXPECT_TRUE(fleet.of(0).speech().done);
}

/// Rank 0 has claimed the speech and is then `state`; what do ranks 1 and 2 print?
std::vector<std::string> lines_without_speaker(char state, bool has_said, double& seconds) {
  Fleet fleet(3);
  Ends ends;
  Captured captured(2);
  fleet.of(0).pronounce({Errc::lost, 0, "dead", "rank 0@n0: dead"});
  EXPECT_TRUE(fleet.of(0).claim_speech());
  if (has_said) fleet.of(0).said();
  fleet.facts.set_state(0, state);
  auto const outcomes = fleet.run(
      never,
      [&](int rank, Watch& watch) {
        if (rank != 0) watch.check();
      },
      ends.adjust());
  seconds = std::max(outcomes[1].seconds, outcomes[2].seconds);
  EXPECT_EQ(ends.exits, 2);
  return captured.writes();
}

TEST(End, IsSpokenByAnotherWhenTheSpeakerDiesBeforeItsLine) {
  double seconds = 0;
  EXPECT_THAT(lines_without_speaker('Z', false, seconds), ElementsAre("berth: rank 0@n0: dead\n"));
  EXPECT_LT(seconds, 3.0);
  EXPECT_THAT(lines_without_speaker('T', false, seconds), ElementsAre("berth: rank 0@n0: dead\n"));
}

TEST(End, IsNotSpokenTwiceWhenTheSpeakerDiesAfterItsLine) {
  double seconds = 0;
  EXPECT_THAT(lines_without_speaker('Z', true, seconds), SizeIs(0));
  EXPECT_LT(seconds, 3.0);
}

TEST(End, ComesThoughTheSpeakerHangs) {
  double seconds = 0;
  EXPECT_THAT(lines_without_speaker('S', true, seconds), SizeIs(0));
  EXPECT_GT(seconds, 0.4);
  EXPECT_LT(seconds, 3.0);
}

TEST(Probe, KeepsARankAliveThatSitsInMpi) {
  Fleet fleet(2);
  std::atomic<int> probes{0};
  auto const outcomes = fleet.run(
      milliseconds(200),
      [&](int rank, Watch& watch) {
        fleet.enter(rank, 1);
        Watch::Blocked const blocked(watch, -1);
        rest(milliseconds(120));
        if (rank == 0) fleet.of(0).step();  // the operation moves on
        rest(milliseconds(120));
      },
      [&](WatchSetup& setup) {
        setup.probe = [&] {
          probes += 1;
          return true;
        };
      });
  EXPECT_GT(probes, 2);
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
}

TEST(Probe, FindsTheRankThatLoopsWhileItSaysItIsInMpi) {
  Fleet fleet(3);
  Ends ends;
  Captured captured(2);
  fleet.run(
      milliseconds(150),
      [&](int rank, Watch& watch) {
        fleet.enter(rank, 1);
        Watch::Blocked const blocked(watch, -1);
        EXPECT_TRUE(comes_true([&] { return ends.exits == 3; }));
      },
      [&](WatchSetup& setup) {
        ends.adjust()(setup);
        bool const is_inside = setup.rank != 1;
        setup.probe = [is_inside] { return is_inside; };
      });
  EXPECT_THAT(captured.writes(), ElementsAre(HasSubstr("rank 1@n0: late: pid 1001")));
  EXPECT_EQ(ends.exits, 3);
}

}  // namespace
}  // namespace berth::ledger
