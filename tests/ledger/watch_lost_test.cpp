// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/captured.hpp>

#include <ledger/fleet.hpp>

namespace berth::ledger {
namespace {

using test::comes_true;
using test::Fleet;
using test::milliseconds;
using test::Outcome;
using test::rest;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr milliseconds never{0};
constexpr milliseconds deadline{150};

/// Every rank but `except` has thrown the same Error.
void expect_same(std::vector<Outcome> const& outcomes, int except, Errc code, int rank,
                 std::string const& part) {
  std::string first;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (static_cast<int>(i) == except) continue;
    ASSERT_TRUE(outcomes[i].error) << "rank " << i;
    EXPECT_EQ(outcomes[i].error->code(), code);
    EXPECT_EQ(outcomes[i].error->rank(), rank);
    EXPECT_THAT(outcomes[i].error->what(), HasSubstr(part));
    if (first.empty()) first = outcomes[i].error->what();
    EXPECT_EQ(outcomes[i].error->what(), first);
  }
}

double slowest(std::vector<Outcome> const& outcomes) {
  double most = 0;
  for (Outcome const& outcome : outcomes) most = std::max(most, outcome.seconds);
  return most;
}

TEST(Lost, DeadRankIsNoticedWithinTicksAndWithoutADeadline) {
  Fleet fleet(4);
  std::atomic<std::uint64_t> looks_before{0};
  auto const outcomes = fleet.run(never, [&](int rank, Watch& watch) {
    fleet.all_enter(rank, watch, 1);
    if (rank == 2) {
      looks_before = fleet.clock.looks();
      fleet.facts.kill(2);
      return;
    }
    fleet.all_enter(rank, watch, 2);
  });
  expect_same(outcomes, 2, Errc::lost, 2,
              "rank 2@n1: dead: pid 1002, process gone, in phase bench, after operation 1: "
              "all_reduce of 1,024 float32 (sum)");
  // Three watchdogs look at the clock once per tick, waits do at their start and end: in ticks,
  // because a crowded machine makes them long.
  EXPECT_LE(fleet.clock.looks() - looks_before, 24U);
  EXPECT_LT(slowest(outcomes), 2.0);
}

TEST(Lost, RankThatDiesWhileOthersWaitForLongIsNoticed) {
  Fleet fleet(2);
  auto const outcomes = fleet.run(never, [&](int rank, Watch& watch) {
    if (rank == 1) {
      rest(milliseconds(80));
      fleet.facts.kill(1);
      return;
    }
    fleet.all_enter(rank, watch, 1);
  });
  expect_same(outcomes, 1, Errc::lost, 1, "dead");
  EXPECT_LT(slowest(outcomes), 2.0);
}

TEST(Lost, RankThatClosedAndEndedIsNoLoss) {
  Fleet fleet(3);
  auto const outcomes = fleet.run(never, [&](int rank, Watch& watch) {
    if (rank == 2) {
      fleet.of(2).set_phase(Phase::closed);
      fleet.facts.kill(2);
      return;
    }
    auto const start = std::chrono::steady_clock::now();
    watch.until_ready([&] { return std::chrono::steady_clock::now() - start > milliseconds(60); });
  });
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
}

TEST(Lost, StoppedRankIsNamedAtTheDeadline) {
  Fleet fleet(3);
  auto const outcomes = fleet.run(deadline, [&](int rank, Watch& watch) {
    fleet.all_enter(rank, watch, 1);
    if (rank == 1) {
      fleet.facts.set_state(1, 'T');
      return;
    }
    fleet.all_enter(rank, watch, 2);
  });
  expect_same(outcomes, 1, Errc::lost, 1,
              "rank 1@n0: stopped: pid 1001, process stopped (state T)");
  EXPECT_GT(slowest(outcomes), 0.14);
  EXPECT_LT(slowest(outcomes), 3.0);
}

TEST(Lost, LateRankIsNamedAtTheDeadline) {
  Fleet fleet(3);
  std::atomic<int> ended{0};
  auto const outcomes = fleet.run(deadline, [&](int rank, Watch& watch) {
    fleet.all_enter(rank, watch, 1);
    if (rank == 2) {
      EXPECT_TRUE(comes_true([&] { return fleet.of(2).has_verdict(); }));
      return;
    }
    fleet.all_enter(rank, watch, 2);
    ++ended;
  });
  EXPECT_EQ(ended, 0);
  expect_same(outcomes, 2, Errc::lost, 2, "rank 2@n1: late: pid 1002, alive but asleep (state S)");
  EXPECT_LT(slowest(outcomes), 3.0);
}

TEST(Lost, RankThatLoopsInsideItsWaitIsNamed) {
  Fleet fleet(3);
  auto const outcomes = fleet.run(deadline, [&](int rank, Watch& watch) {
    fleet.enter(rank, 1);
    if (rank != 1) watch.until_ready([] { return false; }, 1);
    // As a signal handler that never returns would: announced, but its beat stands still.
    watch.until_ready([&, looks = 0]() mutable {
      if (++looks <= 20) return false;  // the spin
      while (!fleet.of(1).has_verdict()) rest(milliseconds(1));
      return false;
    });
  });
  expect_same(outcomes, -1, Errc::lost, 1, "rank 1@n0: late");
  EXPECT_LT(slowest(outcomes), 3.0);
}

TEST(Lost, RankThatLoopsIsNamedByItsOwnWatchdog) {
  Fleet fleet(1);
  auto const outcomes = fleet.run(deadline, [&](int /*rank*/, Watch& watch) {
    fleet.enter(0, 1);
    watch.until_ready([&, looks = 0]() mutable {
      if (++looks <= 20) return false;  // the spin
      while (!fleet.of(0).has_verdict()) rest(milliseconds(1));
      return false;
    });
  });
  expect_same(outcomes, -1, Errc::lost, 0, "in a wait that does not move");
}

TEST(Lost, SlowRankBelowTheDeadlineIsNoLoss) {
  Fleet fleet(3);
  auto const outcomes = fleet.run(milliseconds(250), [&](int rank, Watch& watch) {
    for (std::uint64_t number = 1; number <= 4; ++number) {
      if (rank == 1) rest(milliseconds(80));
      fleet.all_enter(rank, watch, number);
    }
  });
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
}

TEST(Lost, StepsOfALongOperationKeepTheOthersWaiting) {
  Fleet fleet(2);
  auto const outcomes = fleet.run(milliseconds(250), [&](int rank, Watch& watch) {
    for (int i = 0; rank == 1 && i < 8; ++i) {
      rest(milliseconds(40));
      fleet.of(1).step();
    }
    fleet.all_enter(rank, watch, 1);
  });
  for (Outcome const& outcome : outcomes) EXPECT_FALSE(outcome.error);
}

TEST(Lost, RankThatBeatsSeldomIsNotNamed) {
  // A crowded machine lets rank 1's waiting thread run twice in a deadline; rank 2 is late.
  Fleet fleet(3);
  auto const outcomes = fleet.run(milliseconds(300), [&](int rank, Watch& watch) {
    if (rank == 2) {
      EXPECT_TRUE(comes_true([&] { return fleet.of(2).has_verdict(); }));
      return;
    }
    fleet.enter(rank, 1);
    watch.until_ready([&, looks = 0]() mutable {
      if (rank == 1 && ++looks > 20) rest(milliseconds(130));
      return false;
    });
  });
  expect_same(outcomes, 2, Errc::lost, 2, "rank 2@n1: late");
  EXPECT_THAT(outcomes[0].error->what(), testing::Not(HasSubstr("also")));
}

TEST(Lost, RankOfAnotherHostIsCalledSilent) {
  Fleet fleet(2);
  auto const outcomes = fleet.run(deadline, [&](int rank, Watch& watch) {
    fleet.enter(rank, 1);
    watch.until_ready([] { return false; }, rank == 0 ? 7 : 0);
  });
  expect_same(outcomes, -1, Errc::lost, 7, "rank 7: silent");
}

TEST(Lost, NobodyIsNamedWhenNobodyCanBe) {
  Fleet fleet(2);
  auto const outcomes = fleet.run(2 * deadline, [&](int rank, Watch& watch) {
    fleet.enter(rank, 1);
    watch.until_ready([] { return false; });
  });
  expect_same(outcomes, -1, Errc::timeout, -1, "no rank can be named");
}

TEST(Lost, ProcessThatCannotBeSeenIsNotDead) {
  // In another PID namespace its number means nothing here.
  Fleet fleet(2);
  fleet.of(1).own().identity.pid_namespace += 1;
  fleet.facts.kill(1);
  auto const outcomes = fleet.run(deadline, [&](int rank, Watch& watch) {
    if (rank == 1) rest(milliseconds(70));
    fleet.all_enter(rank, watch, 1);
    if (rank == 1) return;
    fleet.all_enter(rank, watch, 2);
  });
  expect_same(outcomes, 1, Errc::lost, 1, "late: pid 1001, state not known");
}

/// Says what it is told to say.
class FixedWitness final : public Witness {
 public:
  std::vector<Blame> ended;
  std::vector<Blame> missing;
  bool speaks = true;
  bool was_reported = false;
  std::vector<Blame> look(bool expired) override { return expired ? missing : ended; }
  bool is_speaker() override { return speaks; }
  bool wait_for_speaker() override { return true; }
  void spoken() override { was_reported = true; }
};

/// Waits for rank 3, which does not come, with such a witness.
Error wait_with(FixedWitness& witness, milliseconds limit, OnLost on_lost = OnLost::raise) {
  Fleet fleet(1);
  WatchSetup setup = fleet.setup(0, limit);
  setup.witness = &witness;
  setup.on_lost = on_lost;
  setup.end = [](int) {};  // then it throws
  Watch watch(std::move(setup));
  try {
    watch.until_ready([] { return false; }, 3);
  } catch (Error const& error) {
    return error;
  }
  return {Errc::ok, -1, "the wait ended"};
}

TEST(Lost, WitnessNamesWhoIsMissingBeforeThereIsALedger) {
  FixedWitness witness;
  witness.missing = {{3, "missing", "did not answer the roll call", "n7"}};
  Error const error = wait_with(witness, milliseconds(60));
  EXPECT_EQ(error.rank(), 3);
  EXPECT_THAT(error.what(), HasSubstr("rank 3@n7: missing: did not answer the roll call"));
  EXPECT_FALSE(error.reported_elsewhere());
}

TEST(Lost, WitnessOfADeadRankIsHeardBeforeTheDeadline) {
  FixedWitness witness;
  witness.ended = {{3, "dead", "pid 7, process gone", "n7"}};
  auto const began = std::chrono::steady_clock::now();
  Error const error = wait_with(witness, std::chrono::minutes(1));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_THAT(error.what(), HasSubstr("rank 3@n7: dead: pid 7"));
}

TEST(Lost, WhoDoesNotSpeakThrowsAnErrorThatIsReportedElsewhere) {
  FixedWitness witness;
  witness.missing = {{3, "missing", "", "n7"}};
  witness.speaks = false;
  EXPECT_TRUE(wait_with(witness, milliseconds(60)).reported_elsewhere());
}

TEST(Lost, OneRankOfAHostReportsAndTellsItsSiblings) {
  FixedWitness witness;
  witness.missing = {{3, "missing", "", "n7"}};
  test::Captured captured(2);
  wait_with(witness, milliseconds(60), OnLost::exit);
  EXPECT_THAT(captured.writes(), ElementsAre(HasSubstr("rank 3@n7: missing")));
  EXPECT_TRUE(witness.was_reported);
}

/// Rank 1 comes late and meanwhile the clock jumps, as after a pause of the whole job.
std::vector<Outcome> run_over_a_jump(base::nanoseconds tick_cap) {
  Fleet fleet(2);
  return fleet.run(
      milliseconds(600),
      [&](int rank, Watch& watch) {
        if (rank == 1) {
          rest(milliseconds(60));
          fleet.clock.jump(std::chrono::seconds(10));
          rest(milliseconds(60));
        }
        fleet.all_enter(rank, watch, 1);
      },
      [&](WatchSetup& setup) { setup.tick_cap = tick_cap; });
}

TEST(Suspension, ExpiresNothing) {
  for (Outcome const& outcome : run_over_a_jump(milliseconds(250))) EXPECT_FALSE(outcome.error);
}

TEST(Suspension, WouldExpireWithoutTheCap) {
  EXPECT_TRUE(run_over_a_jump(std::chrono::hours(1)).front().error);
}

TEST(Debugger, StopsTheClock) {
  Fleet fleet(2);
  fleet.facts.set_tracer(1, 77);
  fleet.facts.set_state(1, 't');
  auto const outcomes = fleet.run(milliseconds(80), [&](int rank, Watch& watch) {
    if (rank == 1) rest(milliseconds(250));
    fleet.all_enter(rank, watch, 1);
    if (rank == 1) {
      fleet.facts.set_tracer(1, 0);
      fleet.facts.set_state(1, 'R');
      return;
    }
    fleet.all_enter(rank, watch, 2);
  });
  // Once it is gone the deadline counts again.
  expect_same(outcomes, 1, Errc::lost, 1, "rank 1@n0: late");
  EXPECT_GT(outcomes[0].seconds, 0.3);
}

TEST(Raise, ReachesAllRanksWithTheSameText) {
  Fleet fleet(4);
  auto const outcomes = fleet.run(never, [&](int rank, Watch& watch) {
    fleet.all_enter(rank, watch, 1);
    if (rank == 1) {
      rest(milliseconds(20));
      watch.raise({Errc::mismatch, 1, "mismatch", "operation 2: rank 1 calls barrier, but ..."});
    }
    fleet.all_enter(rank, watch, 2);
  });
  expect_same(outcomes, -1, Errc::mismatch, 1, "operation 2: rank 1 calls barrier, but ...");
  EXPECT_LT(slowest(outcomes), 2.0);
}

TEST(Raise, ByAllRanksAtOnceGivesOneVerdict) {
  for (int round = 0; round < 20; ++round) {
    Fleet fleet(4);
    auto const outcomes = fleet.run(never, [&](int rank, Watch& watch) {
      fleet.all_enter(rank, watch, 1);
      watch.raise({Errc::mismatch, rank, "mismatch", "said by rank " + std::to_string(rank)});
    });
    ASSERT_TRUE(outcomes[0].error);
    expect_same(outcomes, -1, Errc::mismatch, outcomes[0].error->rank(), "said by rank ");
  }
}

TEST(Abort, EndsWaitsAndTheNextOnes) {
  Fleet fleet(2);
  auto const outcomes = fleet.run(never, [&](int rank, Watch& watch) {
    if (rank == 1) {
      fleet.of(1).pronounce({Errc::aborted, 1, "aborted", "rank 1@n0: aborted"});
      fleet.of(1).set_phase(Phase::aborted);
      EXPECT_TRUE(watch.has_verdict());
      EXPECT_THROW(watch.check(), Error);
    }
    watch.until_ready([] { return false; }, 1 - rank);
  });
  expect_same(outcomes, -1, Errc::aborted, 1, "aborted");
}

}  // namespace
}  // namespace berth::ledger
