// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cpu/data.hpp"
#include "cpu/thread_ranks.hpp"

namespace berth::cpu::test {
namespace {

coll::Tuning tuned(coll::Design design) {
  coll::Tuning tuning;
  tuning.design = design;
  return tuning;
}

coll::Tuning tight() {
  coll::Tuning tuning = tuned(coll::Design::ring);
  tuning.slice_bytes = 4096;
  tuning.slot_bytes = 4096;
  return tuning;
}

/// Broadcasts from every root, each with its own data.
void check(coll::Tuning const& tuning, std::vector<int> const& hosts,
           std::vector<std::size_t> const& counts, bool is_round_robin = false) {
  Job job(hosts, tuning, is_round_robin);
  std::uint64_t salt = 0;
  for (std::size_t count : counts) {
    for (Type type : {Type::int32, Type::float64}) {
      auto const errors = job.run([&](Rank& rank) {
        for (int root = 0; root < rank.size; ++root) {
          Bytes data(count * size_of(type), static_cast<std::size_t>(root) % 3);
          Bytes right(count * size_of(type), 0);
          fill(right.data(), count, type, Op::sum, root, salt);
          if (rank.rank == root) fill(data.data(), count, type, Op::sum, root, salt);
          rank.broadcast(data.data(), count, type, root);
          EXPECT_EQ(0, std::memcmp(data.data(), right.data(), count * size_of(type)))
              << "rank " << rank.rank << " of " << rank.size << ", root " << root << ", count "
              << count;
          EXPECT_TRUE(data.is_guarded());
        }
      });
      for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
      ++salt;
    }
  }
}

constexpr coll::Design every_design[] = {coll::Design::line, coll::Design::flat, coll::Design::ring,
                                         coll::Design::automatic};

TEST(Broadcast, ReachesEveryRankOfAHostFromEveryRoot) {
  for (coll::Design design : every_design) {
    for (int ranks : {1, 2, 3, 5, 8}) check(tuned(design), {ranks}, {0, 1, 7, 15, 1000, 4095});
  }
  check(tuned(coll::Design::automatic), {3}, {300007});
}

TEST(Broadcast, ReusesTheSlotsOfTheRingSafely) {
  for (int ranks : {2, 3, 5}) check(tight(), {ranks}, {1, 4095, 20001, 70001});
}

TEST(Broadcast, CrossesHostsFromEveryRoot) {
  std::vector<std::vector<int>> const layouts = {
      {1, 1}, {2, 1}, {1, 1, 1}, {3, 1, 2}, {1, 1, 1, 1, 1}};
  for (auto const& hosts : layouts) {
    for (coll::Design design : every_design) check(tuned(design), hosts, {0, 1, 15, 4095}, true);
    check(tight(), hosts, {1, 4095, 70001});
  }
}

}  // namespace
}  // namespace berth::cpu::test
