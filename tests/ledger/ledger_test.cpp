// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <ledger/fleet.hpp>

namespace berth::ledger {
namespace {

using test::Fleet;

/// An operation whose fields follow from its number, so that a mixture of two shows.
model::Descriptor numbered(std::uint64_t number) {
  model::Descriptor operation;
  operation.number = number;
  operation.count = number * 3;
  operation.collective = model::Collective::broadcast;
  operation.root = static_cast<std::int32_t>(number % 1000);
  operation.form = number * 7;
  return operation;
}

bool is_whole(model::Descriptor const& found, std::uint64_t number) {
  model::Descriptor const expected = numbered(number);
  return found.number == number && found.count == expected.count && found.root == expected.root &&
         found.form == expected.form && found.collective == expected.collective;
}

TEST(Layout, KeepsToItsBudgetPerRank) {
  constexpr std::size_t budget = 128UL * 1024;
  for (int size : {1, 2, 7, 128}) {
    EXPECT_LE(Ledger::bytes(size), static_cast<std::size_t>(size) * budget) << size;
  }
}

TEST(Layout, KeepsWhatDifferentRanksWriteApart) {
  constexpr std::size_t pair = 128;
  EXPECT_EQ(alignof(Record), pair);
  EXPECT_GE(offsetof(Record, waiting) - offsetof(Record, progress), pair);
  EXPECT_GE(offsetof(Record, ring) - offsetof(Record, proposal), sizeof(Proposal));
  EXPECT_GE(offsetof(Header, speaker) - offsetof(Header, verdict), pair);
  EXPECT_EQ(sizeof(Recorded), 64U);
}

TEST(Layout, IsRefusedWhenItIsAnother) {
  Fleet fleet(2);
  fleet.of(0).header().layout += 1;
  EXPECT_THROW(fleet.of(1).announce(1, 1, 1), Error);
  fleet.of(0).header().layout -= 1;
  fleet.of(0).header().local_size = 3;
  EXPECT_THROW(fleet.of(1).announce(1, 1, 1), Error);
}

TEST(Recorder, FindsTheLastOperationsAndNoOthers) {
  Fleet fleet(2);
  EXPECT_FALSE(fleet.of(1).recorded(0, 0));
  EXPECT_FALSE(fleet.of(1).recorded(0, 1));
  constexpr std::uint64_t last = 3 * recorder_length + 5;
  for (std::uint64_t number = 1; number <= last; ++number) {
    fleet.of(0).enter(numbered(number));
    fleet.of(0).leave(number);
  }
  // The one that the owner may be about to overwrite does not count.
  constexpr std::uint64_t oldest = last - recorder_length + 2;
  for (std::uint64_t number = 1; number <= last + 2; ++number) {
    auto const found = fleet.of(1).recorded(0, number);
    ASSERT_EQ(found.has_value(), number >= oldest && number <= last) << number;
    if (found) {
      ASSERT_TRUE(is_whole(*found, number)) << number;
    }
  }
}

TEST(Recorder, GivesWholeOperationsWhileTheOwnerLapsTheReader) {
  Fleet fleet(2);
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (std::uint64_t number = 1; !done; ++number) fleet.of(0).enter(numbered(number));
  });
  std::uint64_t found = 0;
  std::uint64_t torn = 0;
  while (found < 20'000) {
    std::uint64_t const entered = fleet.of(0).own().progress.entered.load();
    // The oldest ones are those that the owner is overwriting.
    for (std::uint64_t back : {std::uint64_t{0}, recorder_length / 2, recorder_length - 3,
                               recorder_length - 2, recorder_length - 1}) {
      if (entered <= back) continue;
      auto const operation = fleet.of(1).recorded(0, entered - back);
      if (!operation) continue;
      ++found;
      if (!is_whole(*operation, entered - back)) ++torn;
    }
  }
  done = true;
  owner.join();
  EXPECT_EQ(torn, 0U);
}

TEST(Recorder, NotesTheTimesOfALongWait) {
  Fleet fleet(1);
  Ledger const& ledger = fleet.of(0);
  fleet.of(0).enter(numbered(5));
  ledger.note_wait(true, base::nanoseconds(100));
  ledger.note_wait(false, base::nanoseconds(150));
  ledger.note_wait(true, base::nanoseconds(160));  // the operation waits once more
  ledger.note_wait(false, base::nanoseconds(190));
  Recorded const& entry = ledger.own().ring[5];
  EXPECT_EQ(entry.waited_from_ns.load(), 100U);
  EXPECT_EQ(entry.waited_to_ns.load(), 190U);
  fleet.of(0).enter(numbered(5 + recorder_length));
  EXPECT_EQ(entry.waited_from_ns.load(), 0U);
  EXPECT_EQ(entry.waited_to_ns.load(), 0U);
}

TEST(Verdict, IsWrittenOnceByRacingRanks) {
  constexpr int ranks = 8;
  for (int round = 0; round < 20; ++round) {
    Fleet fleet(ranks);
    std::atomic<int> winners{0};
    std::atomic<bool> go{false};
    std::vector<std::string> seen(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        while (!go) std::this_thread::yield();
        std::string const text(static_cast<std::size_t>(400 + rank), static_cast<char>('a' + rank));
        if (fleet.of(rank).pronounce({Errc::lost, rank, "dead", text})) winners += 1;
        Verdict const verdict = fleet.of(rank).verdict().value();
        EXPECT_EQ(verdict.text, std::string(static_cast<std::size_t>(400 + verdict.rank),
                                            static_cast<char>('a' + verdict.rank)));
        seen[static_cast<std::size_t>(rank)] = verdict.text;
      });
    }
    go = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
    for (std::string const& text : seen) EXPECT_EQ(text, seen.front());
  }
}

TEST(Verdict, IsWrittenOnceByTwoThreadsOfOneRank) {
  for (int round = 0; round < 80; ++round) {
    Fleet fleet(1);
    std::atomic<int> winners{0};
    auto const pronounce = [&](char const* text) {
      if (fleet.of(0).pronounce({Errc::mismatch, 0, "mismatch", text})) winners += 1;
      EXPECT_TRUE(fleet.of(0).verdict());
    };
    std::thread other([&] { pronounce("of one thread"); });
    pronounce("of the other thread");
    other.join();
    EXPECT_EQ(winners, 1);
  }
}

TEST(Verdict, DoesNotExistWhenItsWriterDiesBeforeItIsComplete) {
  Fleet fleet(2);
  // What a rank leaves that is killed between its first and its last step.
  fleet.of(0).own().proposal.taken = 1;
  fleet.of(0).own().proposal.text[0] = 'h';
  EXPECT_FALSE(fleet.of(1).has_verdict());
  EXPECT_TRUE(fleet.of(1).pronounce({Errc::lost, 0, "dead", "rank 0: dead"}));
  EXPECT_EQ(fleet.of(1).verdict().value().text, "rank 0: dead");
}

TEST(Verdict, IsOneLineThatFits) {
  Fleet fleet(1);
  std::string const text = "first\nsecond " + std::string(600, 'x');
  ASSERT_TRUE(fleet.of(0).pronounce({Errc::aborted, 0, "a kind that is far too long", text}));
  Verdict const verdict = fleet.of(0).verdict().value();
  EXPECT_EQ(verdict.code, Errc::aborted);
  EXPECT_LE(verdict.text.size(), 479U);
  EXPECT_EQ(verdict.text.find('\n'), std::string::npos);
  EXPECT_EQ(verdict.kind, "a kind that is ");
}

TEST(Speech, BelongsToOneRank) {
  Fleet fleet(3);
  EXPECT_EQ(fleet.of(0).speech().speaker, -1);
  EXPECT_TRUE(fleet.of(1).claim_speech());
  EXPECT_FALSE(fleet.of(2).claim_speech());
  EXPECT_EQ(fleet.of(0).speech().speaker, 1);
  EXPECT_FALSE(fleet.of(0).speech().said);
  fleet.of(1).said();
  EXPECT_TRUE(fleet.of(0).speech().said);
  EXPECT_FALSE(fleet.of(0).speech().done);
  fleet.of(1).spoken();
  EXPECT_TRUE(fleet.of(0).speech().done);
}

TEST(Speech, IsTakenOverByOneRankAndOnlyBeforeTheLineIsOut) {
  Fleet fleet(3);
  ASSERT_TRUE(fleet.of(0).claim_speech());
  EXPECT_TRUE(fleet.of(1).take_over_speech(0));
  EXPECT_FALSE(fleet.of(2).take_over_speech(0));
  EXPECT_EQ(fleet.of(2).speech().speaker, 1);
  fleet.of(1).said();
  EXPECT_FALSE(fleet.of(2).take_over_speech(1));
}

TEST(Report, BelongsToOneRankUntilSomethingMoves) {
  Fleet fleet(2);
  EXPECT_TRUE(fleet.of(0).claim_report(0));
  EXPECT_FALSE(fleet.of(1).claim_report(0));
  EXPECT_TRUE(fleet.of(1).claim_report(7));
  EXPECT_FALSE(fleet.of(0).claim_report(7));
}

}  // namespace
}  // namespace berth::ledger
