// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <base/units.hpp>

#include "cpu/thread_ranks.hpp"

namespace berth::cpu::test {
namespace {

using testing::HasSubstr;

using Call = std::function<void(Rank&, std::vector<double>&)>;

Call all_reduce_of(std::size_t count, Type type = Type::float64, Op op = Op::sum) {
  return [=](Rank& rank, std::vector<double>& data) {
    rank.all_reduce(data.data(), data.data(), count, type, op);
  };
}

Call broadcast_from(int root, std::size_t count) {
  return [=](Rank& rank, std::vector<double>& data) {
    rank.broadcast(data.data(), count, Type::float64, root);
  };
}

Call const barrier = [](Rank& rank, std::vector<double>&) { rank.barrier(); };

/// All ranks but one make one call, that one another; every rank must say so, and name it.
void expect_reported(std::vector<int> const& hosts, int stray, Call const& others, Call const& own,
                     std::string const& text_of_others, std::string const& text_of_own) {
  Job job(hosts);
  auto const errors = job.run([&](Rank& rank) {
    std::vector<double> data(300000, 1.0);
    for (int i = 0; i < 3; ++i) all_reduce_of(5)(rank, data);
    (rank.rank == stray ? own : others)(rank, data);
    // A root of a broadcast does not look at the others before the next operation.
    rank.barrier();
  });
  for (auto const& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(Errc::mismatch, error->code());
    EXPECT_STREQ(errors[0]->what(), error->what());
    if (job.size() > 2) {
      EXPECT_EQ(stray, error->rank());
    }
    EXPECT_THAT(error->what(), HasSubstr(text_of_others));
    EXPECT_THAT(error->what(), HasSubstr(text_of_own));
    EXPECT_THAT(error->what(), HasSubstr("operation 4"));
  }
}

TEST(Mismatch, OfTheCountIsReportedOnAllRanks) {
  for (int stray : {0, 1, 2}) {
    expect_reported({3}, stray, all_reduce_of(7), all_reduce_of(6), "all_reduce of 7 float64",
                    "all_reduce of 6 float64");
  }
}

TEST(Mismatch, OfDesignsIsReportedOnAllRanks) {
  for (std::size_t others : {std::size_t{3}, std::size_t{500}, std::size_t{300000}}) {
    for (std::size_t own : {std::size_t{1}, std::size_t{800}, std::size_t{200000}}) {
      expect_reported({3}, 1, all_reduce_of(others), all_reduce_of(own), base::format_count(others),
                      base::format_count(own));
    }
  }
}

TEST(Mismatch, OfTypeOrOperationIsReportedOnAllRanks) {
  expect_reported({3}, 2, all_reduce_of(7), all_reduce_of(7, Type::int64), "float64", "int64");
  expect_reported({3}, 0, all_reduce_of(7), all_reduce_of(7, Type::float64, Op::max), "(sum)",
                  "(max)");
}

TEST(Mismatch, OfTheCollectiveIsReportedOnAllRanks) {
  expect_reported({3}, 1, all_reduce_of(7), barrier, "all_reduce", "barrier");
  expect_reported({3}, 1, barrier, all_reduce_of(300000), "all_reduce", "barrier");
  expect_reported({3}, 2, broadcast_from(0, 9), all_reduce_of(9), "all_reduce", "broadcast");
  expect_reported({3}, 0, broadcast_from(1, 9000), barrier, "barrier", "broadcast");
}

TEST(Mismatch, OfTheRootIsReportedOnAllRanks) {
  expect_reported({3}, 2, broadcast_from(0, 9), broadcast_from(1, 9), "from rank 0", "from rank 1");
  expect_reported({3}, 0, broadcast_from(1, 200000), broadcast_from(2, 200000), "from rank 1",
                  "from rank 2");
}

TEST(Mismatch, BetweenTwoRanksNamesBothCalls) {
  expect_reported({2}, 1, all_reduce_of(7), all_reduce_of(6), "rank 0 calls all_reduce of 7",
                  "rank 1 calls all_reduce of 6");
}

TEST(Mismatch, OnOneHostIsReportedOnTheOthers) {
  expect_reported({3, 2}, 1, all_reduce_of(7), all_reduce_of(6), "of 7 float64", "of 6 float64");
  expect_reported({3, 2}, 1, all_reduce_of(200000), all_reduce_of(6), "of 200,000", "of 6 float64");
}

TEST(Mismatch, OfTwoRootsIsReportedOnAllRanks) {
  for (std::size_t count : {std::size_t{3}, std::size_t{1000}, std::size_t{300000}}) {
    for (std::vector<int> const& hosts : {std::vector{2}, {1, 1}, {2, 1}, {1, 1, 1}}) {
      Job job(hosts);
      auto const errors = job.run([&](Rank& rank) {
        std::vector<double> data(300000, 1.0);
        broadcast_from(rank.rank == rank.size - 1 ? rank.rank : 0, count)(rank, data);
        rank.barrier();
      });
      for (auto const& error : errors) {
        ASSERT_TRUE(error);
        EXPECT_EQ(Errc::mismatch, error->code()) << error->what();
        EXPECT_STREQ(errors[0]->what(), error->what());
        EXPECT_THAT(error->what(), HasSubstr("from rank 0"));
        EXPECT_THAT(error->what(), HasSubstr("from rank " + std::to_string(job.size() - 1)));
      }
    }
  }
}

/// Two hosts agree within themselves and not with each other.
TEST(Mismatch, BetweenHostsIsReportedOnAllRanks) {
  for (std::size_t first : {std::size_t{3}, std::size_t{900}, std::size_t{200000}}) {
    for (std::size_t second : {std::size_t{2}, std::size_t{250000}}) {
      for (std::vector<int> const& hosts : {std::vector{2, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}}) {
        Job job(hosts);
        auto const errors = job.run([&](Rank& rank) {
          std::vector<double> data(300000, 1.0);
          bool const is_last = rank.rank == rank.size - 1;
          all_reduce_of(is_last ? second : first)(rank, data);
          rank.barrier();
        });
        for (auto const& error : errors) {
          ASSERT_TRUE(error);
          EXPECT_EQ(Errc::mismatch, error->code()) << error->what();
          EXPECT_STREQ(errors[0]->what(), error->what());
          EXPECT_THAT(error->what(), HasSubstr(base::format_count(first)));
          EXPECT_THAT(error->what(), HasSubstr(base::format_count(second)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::cpu::test
