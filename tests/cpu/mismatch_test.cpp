// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <base/units.hpp>
#include <ledger/verdict.hpp>

#include "cpu/cases.hpp"

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

// The table of wrong calls: one rank does something else in operation 4.

using model::Collective;

struct Wrong {
  char const* what;
  std::vector<Case> others;
  std::vector<Case> own;
};

Case of(Collective collective, std::size_t count, Type type = Type::float64, Op op = Op::sum,
        int root = -1) {
  Case call;
  call.collective = collective;
  call.count = count;
  call.type = type;
  call.op = op;
  call.root = root;
  return call;
}

std::vector<Wrong> wrong_calls(std::size_t n) {
  Case const gather = of(Collective::all_gather, n);
  Case const scatter = of(Collective::reduce_scatter, n);
  Case const reduce = of(Collective::reduce, n, Type::float64, Op::sum, 0);
  Case const meet = of(Collective::barrier, 0, Type::int32);
  return {
      {"count of all_gather", {gather}, {of(Collective::all_gather, n + 1)}},
      {"count 0", {scatter}, {of(Collective::reduce_scatter, 0)}},
      {"count of another design", {scatter}, {of(Collective::reduce_scatter, 50 * n)}},
      {"type", {of(Collective::all_to_all, n)}, {of(Collective::all_to_all, n, Type::int64)}},
      {"operation", {scatter}, {of(Collective::reduce_scatter, n, Type::float64, Op::avg)}},
      {"operation of reduce", {reduce}, {of(Collective::reduce, n, Type::float64, Op::max, 0)}},
      {"root", {reduce}, {of(Collective::reduce, n, Type::float64, Op::sum, 1)}},
      {"collective", {gather}, {of(Collective::all_to_all, n)}},
      {"reduce for all_reduce", {of(Collective::all_reduce, n)}, {reduce}},
      {"order", {gather, scatter}, {scatter, gather}},
      {"skipped call", {scatter, meet}, {meet}},
      {"one call too many", {meet}, {gather, meet}},
  };
}

/// Calls a case with buffers that nothing may be written beside. Wrong results are expected here.
void call_blindly(Rank& rank, Case const& call) {
  std::size_t const bytes = call.count * size_of(call.type) * static_cast<std::size_t>(rank.size);
  Bytes in(bytes, 8);
  Bytes out(bytes, 16);
  std::memset(in.data(), 0, bytes);
  try {
    switch (call.collective) {
      case Collective::all_reduce:
        rank.all_reduce(in.data(), out.data(), call.count, call.type, call.op);
        break;
      case Collective::reduce:
        rank.reduce(in.data(), out.data(), call.count, call.type, call.op, call.root);
        break;
      case Collective::all_gather:
        rank.all_gather(in.data(), out.data(), call.count, call.type);
        break;
      case Collective::reduce_scatter:
        rank.reduce_scatter(in.data(), out.data(), call.count, call.type, call.op);
        break;
      case Collective::all_to_all:
        rank.all_to_all(in.data(), out.data(), call.count, call.type);
        break;
      default:
        rank.barrier();
    }
  } catch (Error const&) {
    EXPECT_TRUE(in.is_guarded() && out.is_guarded()) << rank.rank;
    throw;
  }
  EXPECT_TRUE(in.is_guarded() && out.is_guarded()) << rank.rank;
}

std::string described(Case const& call) {
  return ledger::describe(
      {4, call.count, call.collective, call.type, call.op, Backend::cpu, call.root, 0});
}

void expect_table(std::vector<int> const& hosts, int stray, std::size_t count) {
  for (Wrong const& wrong : wrong_calls(count)) {
    SCOPED_TRACE(wrong.what);
    Job job(hosts);
    auto const errors = job.run([&](Rank& rank) {
      for (int i = 0; i < 3; ++i) call_blindly(rank, of(Collective::all_gather, 5));
      bool const is_stray = rank.rank == stray;
      for (Case const& call : is_stray ? wrong.own : wrong.others) call_blindly(rank, call);
      rank.barrier();
      rank.barrier();
    });
    for (auto const& error : errors) {
      ASSERT_TRUE(error);
      EXPECT_EQ(Errc::mismatch, error->code()) << error->what();
      EXPECT_STREQ(errors[0]->what(), error->what());
      EXPECT_THAT(error->what(), HasSubstr("operation 4"));
      EXPECT_THAT(error->what(), HasSubstr(described(wrong.others[0])));
      EXPECT_THAT(error->what(), HasSubstr(described(wrong.own[0])));
      if (hosts.size() == 1 && job.size() > 2) {
        EXPECT_EQ(stray, error->rank()) << error->what();
      }
    }
  }
}

TEST(Mismatch, OfTwelveKindsIsReportedOnAllRanks) {
  for (int stray : {0, 1, 2}) expect_table({3}, stray, 100);
  expect_table({2}, 1, 100);
  expect_table({3}, 1, 20000);
  expect_table({5}, 4, 7);
}

TEST(Mismatch, OfTwelveKindsIsReportedBetweenHosts) {
  for (std::size_t count : {std::size_t{100}, std::size_t{20000}}) {
    expect_table({1, 1}, 1, count);
    expect_table({3, 2}, 1, count);
    expect_table({2, 3}, 4, count);
    expect_table({1, 1, 1}, 2, count);
  }
}

}  // namespace
}  // namespace berth::cpu::test
