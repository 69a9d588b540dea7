// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cpu/data.hpp"
#include "cpu/thread_ranks.hpp"

namespace berth::cpu::test {
namespace {

struct Shape {
  coll::Tuning tuning;
  std::vector<int> hosts;
  bool is_round_robin = false;
};

coll::Tuning tuned(coll::Design design, coll::Store store = coll::Store::streamed) {
  coll::Tuning tuning;
  tuning.design = design;
  tuning.store = store;
  return tuning;
}

/// Small slices and slots: many blocks, ragged ends and every slot used again and again.
coll::Tuning tight(coll::Store store) {
  coll::Tuning tuning = tuned(coll::Design::ring, store);
  tuning.slice_bytes = 4096;
  tuning.slot_bytes = 8192;
  tuning.host_small_bytes = 1024;
  return tuning;
}

/// One all-reduce of every kind asked for; every rank's result is compared byte by byte.
void check(Shape const& shape, std::vector<std::size_t> const& counts,
           std::vector<Type> const& types, std::vector<Op> const& ops) {
  Job job(shape.hosts, shape.tuning, shape.is_round_robin);
  std::uint64_t salt = 0;
  for (std::size_t count : counts) {
    for (Type type : types) {
      for (Op op : ops) {
        ++salt;
        std::vector<std::byte> const right = reference(count, type, op, job.size(), salt);
        bool const is_in_place = salt % 3 == 0;
        std::size_t const shift = salt % 4 == 1 ? 1 : salt % 4 == 2 ? 8 : 0;
        auto const errors = job.run([&](Rank& rank) {
          Bytes in(right.size(), shift);
          Bytes out(right.size(), salt % 8);
          fill(in.data(), count, type, op, rank.rank, salt);
          std::byte* const to = is_in_place ? in.data() : out.data();
          rank.all_reduce(in.data(), to, count, type, op);
          EXPECT_TRUE(right.empty() || std::memcmp(to, right.data(), right.size()) == 0)
              << "rank " << rank.rank << " of " << rank.size << ", count " << count << ", type "
              << static_cast<int>(type) << ", op " << static_cast<int>(op)
              << (is_in_place ? ", in place" : "");
          EXPECT_TRUE(in.is_guarded() && out.is_guarded()) << "rank " << rank.rank;
        });
        for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
      }
    }
  }
}

std::vector<Type> const every_type(std::begin(all_types), std::end(all_types));
std::vector<Op> const every_op(std::begin(all_ops), std::end(all_ops));
std::vector<std::size_t> const small_counts = {0, 1, 2, 3, 7, 13, 14, 15, 1000, 4095};
constexpr coll::Design every_design[] = {coll::Design::line, coll::Design::flat, coll::Design::ring,
                                         coll::Design::automatic};

TEST(AllReduce, IsExactForEveryDesignTypeAndOperationOnOneHost) {
  for (coll::Design design : every_design) {
    for (int ranks : {1, 2, 3, 5}) {
      check({tuned(design), {ranks}}, small_counts, every_type, every_op);
    }
  }
}

TEST(AllReduce, IsExactForMoreRanksThanCores) {
  for (coll::Design design : every_design) {
    for (int ranks : {4, 8, 16}) {
      check({tuned(design), {ranks}}, {1, 15, 4095}, {Type::int64}, {Op::sum, Op::max});
    }
  }
  check({tuned(coll::Design::automatic), {33}}, {3, 4095, 20001}, {Type::float32}, {Op::sum});
}

TEST(AllReduce, IsExactForLongMessages) {
  for (coll::Store store : {coll::Store::cached, coll::Store::streamed, coll::Store::automatic}) {
    for (int ranks : {2, 3, 5}) {
      check({tuned(coll::Design::ring, store), {ranks}}, {70001}, {Type::float32},
            {Op::sum, Op::max, Op::prod});
    }
    check({tuned(coll::Design::ring, store), {2}}, {1048573}, {Type::float32}, {Op::sum});
    coll::Tuning around = tuned(coll::Design::ring, store);
    around.stream_result_from_bytes = 0;
    check({around, {2}}, {70001}, {Type::float64, Type::int32}, {Op::min, Op::sum});
  }
}

/// Both kinds of store alternate while the backend finds out which is faster.
TEST(AllReduce, StaysExactWhileStoresAreTriedOut) {
  Job job({2});
  auto const errors = job.run([](Rank& rank) {
    std::vector<std::int64_t> data(2048);
    std::size_t wrong = 0;
    for (std::int64_t i = 0; i < 1200; ++i) {
      std::fill(data.begin(), data.end(), i + rank.rank);
      rank.all_reduce(data.data(), data.data(), data.size(), Type::int64, Op::sum);
      wrong += static_cast<std::size_t>(
          std::count_if(data.begin(), data.end(), [&](std::int64_t x) { return x != 2 * i + 1; }));
    }
    EXPECT_EQ(0U, wrong);
  });
  for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
}

TEST(AllReduce, IsExactWhenTheRingTurnsManyTimes) {
  for (coll::Store store : {coll::Store::cached, coll::Store::streamed}) {
    for (int ranks : {2, 3, 4, 5}) {
      check({tight(store), {ranks}}, {1, 15, 1000, 4095, 70001}, {Type::int32, Type::float64},
            {Op::sum, Op::min, Op::max});
    }
  }
}

TEST(AllReduce, IsExactBetweenHostsWithUnequalRanks) {
  std::vector<std::vector<int>> const layouts = {{1, 1},    {2, 1},    {2, 3},
                                                 {1, 1, 1}, {3, 1, 2}, {2, 2, 2}};
  for (auto const& hosts : layouts) {
    for (coll::Design design : every_design) {
      check({tuned(design), hosts, hosts.size() == 3}, {0, 1, 13, 15, 1000, 4095},
            {Type::int32, Type::float64}, every_op);
    }
    check({tight(coll::Store::streamed), hosts, true}, {1, 15, 4095, 70001}, {Type::float32},
          {Op::sum, Op::min, Op::max});
    check({tuned(coll::Design::automatic), hosts}, {300007}, {Type::float32}, {Op::sum});
  }
}

TEST(AllReduce, IsExactBetweenManyHosts) {
  for (int hosts : {4, 5, 6, 7, 8, 9}) {
    std::vector<int> const layout(static_cast<std::size_t>(hosts), 1);
    check({tuned(coll::Design::automatic), layout}, {1, 7, 1000, 70001}, {Type::int64}, every_op);
    check({tight(coll::Store::cached), layout}, {15, 4095, 9001}, {Type::float32},
          {Op::sum, Op::max});
  }
}

/// Sums whose value depends on the order, so that equal bits mean equal orders.
TEST(AllReduce, GivesBitwiseTheSameOnEveryRankAndEveryTime) {
  std::vector<std::vector<int>> const layouts = {{5}, {3, 2}, {1, 1, 1, 1, 1}, {2, 1, 1}};
  for (auto const& hosts : layouts) {
    for (std::size_t count : {std::size_t{11}, std::size_t{3001}, std::size_t{70001}}) {
      std::vector<float> first;
      for (int repeat = 0; repeat < 3; ++repeat) {
        Job job(hosts);
        std::vector<std::vector<float>> results(static_cast<std::size_t>(job.size()));
        auto const errors = job.run([&](Rank& rank) {
          std::vector<float> data(count);
          for (std::size_t i = 0; i < count; ++i) {
            auto const x = static_cast<double>(input(rank.rank, i, Type::float32, Op::sum, 5));
            data[i] = static_cast<float>(x * std::pow(1.7, rank.rank * 9) / 3.0);
          }
          rank.all_reduce(data.data(), data.data(), count, Type::float32, Op::sum);
          results[static_cast<std::size_t>(rank.rank)] = std::move(data);
        });
        for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
        if (first.empty()) first = results[0];
        for (auto const& result : results) {
          EXPECT_EQ(0, std::memcmp(result.data(), first.data(), count * sizeof(float)));
        }
      }
    }
  }
}

TEST(AllReduce, GivesNaNWhateverRankHoldsIt) {
  for (int holder = 0; holder < 3; ++holder) {
    Job job({3});
    auto const errors = job.run([&](Rank& rank) {
      for (Op op : {Op::min, Op::max, Op::sum}) {
        std::vector<float> data(37, static_cast<float>(rank.rank));
        if (rank.rank == holder) data[5] = std::nanf("");
        rank.all_reduce(data.data(), data.data(), data.size(), Type::float32, op);
        EXPECT_TRUE(std::isnan(data[5]));
        EXPECT_FALSE(std::isnan(data[6]));
      }
    });
    for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
  }
}

}  // namespace
}  // namespace berth::cpu::test
