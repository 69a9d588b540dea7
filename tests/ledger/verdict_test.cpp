// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ledger/verdict.hpp>

namespace berth::ledger {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A rank inside operation `number` that waits with a beating heart.
RankView waiting(int rank, std::uint64_t number = 17) {
  RankView view;
  view.rank = rank;
  view.pid = 4200 + rank;
  view.state = 'S';
  view.phase = Phase::bench;
  view.entered = number;
  view.left = number - 1;
  view.wait = WaitKind::waiting;
  view.beats = true;
  view.operation = "all_reduce of 1,024 float32 (sum)";
  return view;
}

/// A rank that computes after operation `number`.
RankView computing(int rank, std::uint64_t number = 16) {
  RankView view = waiting(rank, number);
  view.state = 'R';
  view.left = number;
  view.wait = WaitKind::none;
  view.beats = false;
  return view;
}

/// "3 dead, 5 late".
std::string short_of(std::vector<Blame> const& blames) {
  std::string text;
  for (Blame const& blame : blames) {
    if (!text.empty()) text += ", ";
    text += std::to_string(blame.rank) + " " + blame.kind;
  }
  return text;
}

TEST(Judge, NamesTheDeadBeforeAnyDeadline) {
  std::vector<RankView> ranks = {waiting(0), waiting(1), waiting(2)};
  ranks[1].alive = false;
  EXPECT_EQ(short_of(judge(ranks, 0, false)), "1 dead");
}

TEST(Judge, NamesNobodyBeforeTheDeadlineWhenAllLive) {
  std::vector<RankView> ranks = {waiting(0), computing(1), waiting(2)};
  ranks[2].state = 'T';
  EXPECT_THAT(judge(ranks, 0, false), IsEmpty());
}

TEST(Judge, LetsDeadBeatStoppedAndLate) {
  std::vector<RankView> ranks = {waiting(0), computing(1), waiting(2), waiting(3), waiting(4)};
  ranks[2].state = 'T';
  ranks[3].alive = false;
  ranks[4].alive = false;
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "3 dead, 4 dead");
}

TEST(Judge, LetsStoppedBeatLate) {
  std::vector<RankView> ranks = {waiting(0), computing(1), waiting(2)};
  ranks[2].state = 'T';
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "2 stopped");
  ranks[2].state = 't';
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "2 stopped");
}

TEST(Judge, NamesARankThatHasNotCome) {
  std::vector<RankView> const ranks = {waiting(0), computing(1), waiting(2)};
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "1 late");
}

TEST(Judge, NamesARankThatLoopsInsideTheOperation) {
  std::vector<RankView> ranks = {waiting(0), waiting(1), waiting(2)};
  ranks[1].wait = WaitKind::none;
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "1 late");
}

TEST(Judge, NamesARankWhoseWaitDoesNotMove) {
  std::vector<RankView> ranks = {waiting(0), waiting(1), waiting(2)};
  ranks[2].beats = false;
  std::vector<Blame> const blames = judge(ranks, 0, true);
  ASSERT_EQ(short_of(blames), "2 late");
  EXPECT_THAT(blames.front().detail, HasSubstr("in a wait that does not move"));
}

TEST(Judge, NamesTheRankWhoseOwnWatchdogAsks) {
  std::vector<RankView> ranks = {waiting(0), waiting(1)};
  ranks[0].beats = false;
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "0 late");
  // Even when the only other rank has done its part and computes.
  ranks[1] = computing(1, 17);
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "0 late");
}

TEST(Judge, SparesARankThatHasDoneItsPart) {
  // Rank 2 sent the broadcast number 17 and computes; the others wait for rank 1.
  std::vector<RankView> const ranks = {waiting(0), computing(1, 16), computing(2, 17)};
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "1 late");
}

TEST(Judge, AsksForTheOperationFurthestBehind) {
  // Rank 0 was the root of number 17 and waits in 18 already; everybody needs rank 2 in 17.
  std::vector<RankView> const ranks = {waiting(0, 18), waiting(1, 17), computing(2, 16),
                                       computing(3, 17)};
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "2 late");
}

TEST(Judge, NamesTwoAtOnce) {
  std::vector<RankView> ranks = {waiting(0), computing(1), waiting(2), waiting(3)};
  ranks[3].beats = false;
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "1 late, 3 late");
}

TEST(Judge, BelievesARankInsideMpiThatCannotBeProbed) {
  std::vector<RankView> ranks = {waiting(0), waiting(1)};
  ranks[1].wait = WaitKind::in_mpi;
  ranks[1].beats = false;
  ranks[1].beat_known = false;
  EXPECT_THAT(judge(ranks, 0, true), IsEmpty());
  ranks[1].beat_known = true;
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "1 late");
}

TEST(Judge, KnowsARankThatIsLateBeforeTheFirstOperation) {
  std::vector<RankView> ranks = {waiting(0), computing(1), waiting(2)};
  for (RankView& rank : ranks) rank.entered = rank.left = 0;
  EXPECT_EQ(short_of(judge(ranks, 0, true)), "1 late");
}

TEST(Judge, NeverBlamesARankThatHasClosed) {
  for (Phase const phase : {Phase::closed, Phase::aborted}) {
    std::vector<RankView> ranks = {waiting(0), waiting(1)};
    ranks[1].phase = phase;
    ranks[1].alive = false;
    EXPECT_THAT(judge(ranks, 0, false), IsEmpty());
    EXPECT_THAT(judge(ranks, 0, true), IsEmpty());
    ranks[1].alive = true;
    ranks[1].state = 'T';
    ranks[1].wait = WaitKind::none;
    EXPECT_THAT(judge(ranks, 0, true), IsEmpty());
  }
}

TEST(Judge, FollowsTheChainToASilentRankElsewhere) {
  std::vector<RankView> ranks = {waiting(4), waiting(5), waiting(6)};
  ranks[0].peer = 9;  // between hosts
  ranks[1].peer = 4;
  ranks[2].peer = 4;
  EXPECT_EQ(short_of(judge(ranks, 4, true)), "9 silent");
  EXPECT_EQ(short_of(judge(ranks, 6, true)), "9 silent");
  ranks[1].peer = 12;
  ranks[2].peer = 9;
  EXPECT_EQ(short_of(judge(ranks, 4, true)), "9 silent, 12 silent");
  // A late rank here is nearer than a silent one there.
  ranks[2] = computing(6);
  EXPECT_EQ(short_of(judge(ranks, 4, true)), "6 late");
}

TEST(Judge, NamesNobodyWhenNobodyWaits) {
  std::vector<RankView> const ranks = {computing(0, 0), computing(1, 0)};
  EXPECT_THAT(judge(ranks, 0, true), IsEmpty());
}

TEST(Compose, NamesRankHostProcessStatePhaseAndOperation) {
  std::vector<RankView> ranks = {waiting(0), waiting(1)};
  ranks[1].state = 'T';
  Verdict const verdict = compose(judge(ranks, 0, true), {"n0", "n1"}, 60.04);
  EXPECT_EQ(verdict.code, Errc::lost);
  EXPECT_EQ(verdict.rank, 1);
  EXPECT_EQ(verdict.kind, "stopped");
  EXPECT_EQ(verdict.text,
            "rank 1@n1: stopped: pid 4201, process stopped (state T), in phase bench, inside "
            "operation 17: all_reduce of 1,024 float32 (sum); try kill -CONT; waited 60.0 s");
}

TEST(Compose, SaysOfADeadRankWhereItWas) {
  std::vector<RankView> ranks = {waiting(0), computing(1)};
  ranks[1].alive = false;
  EXPECT_EQ(compose(judge(ranks, 0, false), {"n0", "n1"}, 0.1).text,
            "rank 1@n1: dead: pid 4201, process gone, in phase bench, after operation 16: "
            "all_reduce of 1,024 float32 (sum)");
}

TEST(Compose, DoesWithoutHostsAndOperations) {
  std::vector<RankView> ranks = {waiting(0), computing(1)};
  ranks[1].entered = ranks[1].left = 0;
  ranks[1].alive = false;
  EXPECT_EQ(compose(judge(ranks, 0, false), {}, 0.1).text,
            "rank 1: dead: pid 4201, process gone, in phase bench, before its first operation");
  ranks[1].entered = 3;
  ranks[1].operation.clear();
  EXPECT_THAT(compose(judge(ranks, 0, false), {}, 0.1).text, HasSubstr("inside operation 3"));
}

TEST(Compose, SaysSoWhenNobodyCanBeNamed) {
  Verdict const verdict = compose({}, {"n0"}, 3);
  EXPECT_EQ(verdict.code, Errc::timeout);
  EXPECT_EQ(verdict.rank, -1);
  EXPECT_THAT(verdict.text, HasSubstr("no rank can be named"));
}

TEST(Compose, ShowsTheFirstOfManyAndCountsTheRest) {
  std::vector<RankView> ranks;
  for (int rank = 0; rank < 9; ++rank) ranks.push_back(computing(rank));
  ranks[0] = waiting(0);
  std::vector<std::string> const hosts(9, "n7");
  EXPECT_THAT(compose(judge(ranks, 0, true), hosts, 3).text,
              testing::EndsWith("; also rank 2@n7 (late) rank 3@n7 (late) rank 4@n7 (late) "
                                "rank 5@n7 (late) and 3 more"));
}

TEST(Compose, KeepsToOneLineOf479Bytes) {
  std::vector<Blame> blames;
  for (int rank = 0; rank < 40; ++rank) {
    blames.push_back({rank, "late", std::string(300, 'x') + "\n\x1b[31m"});
  }
  std::vector<std::string> const hosts(40, std::string(64, 'h'));
  std::string const text = compose(blames, hosts, 3).text;
  EXPECT_LE(text.size(), 479U);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Describe, SaysWhatAnOperationDoes) {
  model::Descriptor operation;
  operation.count = 1024;
  operation.type = Type::float64;
  operation.op = Op::max;
  EXPECT_EQ(describe(operation), "none");
  operation.collective = model::Collective::all_reduce;
  EXPECT_EQ(describe(operation), "all_reduce of 1,024 float64 (max)");
  operation.collective = model::Collective::broadcast;
  operation.root = 3;
  EXPECT_EQ(describe(operation), "broadcast of 1,024 float64 from rank 3");
  operation.collective = model::Collective::barrier;
  EXPECT_EQ(describe(operation), "barrier");
}

}  // namespace
}  // namespace berth::ledger
