// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <place/flow.hpp>

namespace berth::place {
namespace {

TEST(LeastCostFlow, ReroutesWhatWasSentBefore) {
  // 2 may go to 4 only, 3 to 4 for less or to 5: the second unit takes the first one's way.
  Flow flow(6);
  flow.add(0, 2, 1, 0);
  flow.add(0, 3, 1, 0);
  auto const only = flow.add(2, 4, 1, 9);
  auto const cheap = flow.add(3, 4, 1, 1);
  auto const dear = flow.add(3, 5, 1, 5);
  flow.add(4, 1, 1, 0);
  flow.add(5, 1, 1, 0);
  EXPECT_EQ(flow.send(0, 1, 2), 2);
  EXPECT_EQ(flow.on(only), 1);
  EXPECT_EQ(flow.on(cheap), 0);
  EXPECT_EQ(flow.on(dear), 1);
}

TEST(LeastCostFlow, SpreadsWhereEachFurtherUnitCostsMore) {
  Flow flow(5);
  auto const a = flow.add(0, 2, 9, 0);
  auto const b = flow.add(0, 3, 9, 0);
  auto const c = flow.add(0, 4, 9, 1);
  for (int vertex = 2; vertex < 5; ++vertex) flow.add(vertex, 1, 9, 0, 10);
  EXPECT_EQ(flow.send(0, 1, 8), 8);
  EXPECT_EQ(flow.on(a), 3);
  EXPECT_EQ(flow.on(b), 3);
  EXPECT_EQ(flow.on(c), 2);
}

TEST(LeastCostFlow, SaysWhoCompetes) {
  // 2 and 3 want 5; 4 has 6 to itself.
  Flow flow(7);
  for (int rank = 2; rank < 5; ++rank) flow.add(0, rank, 1, 0);
  flow.add(2, 5, 1, 0);
  flow.add(3, 5, 1, 0);
  flow.add(4, 6, 1, 0);
  flow.add(5, 1, 1, 0);
  flow.add(6, 1, 1, 0);
  EXPECT_EQ(flow.send(0, 1, 3), 2);
  auto const seen = flow.reachable(0);
  EXPECT_TRUE(seen[2] && seen[3] && seen[5]);
  EXPECT_FALSE(seen[4] || seen[6] || seen[1]);
}

// Against all permutations.
TEST(LeastCostFlow, FindsTheBestOfAllAssignments) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    int const size = 1 + round % 6;
    std::vector<std::vector<int>> cost(static_cast<std::size_t>(size));
    for (auto& row : cost) {
      for (int i = 0; i < size; ++i) {
        row.push_back(std::uniform_int_distribution<int>(0, 20)(random));
      }
    }
    Flow flow(2 + 2 * size);
    std::vector<std::vector<std::size_t>> edges(cost.size());
    for (int i = 0; i < size; ++i) {
      auto const row = static_cast<std::size_t>(i);
      flow.add(0, 2 + i, 1, 0);
      flow.add(2 + size + i, 1, 1, 0);
      for (int j = 0; j < size; ++j) {
        edges[row].push_back(
            flow.add(2 + i, 2 + size + j, 1, cost[row][static_cast<std::size_t>(j)]));
      }
    }
    ASSERT_EQ(flow.send(0, 1, size), size);
    int found = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
      for (std::size_t j = 0; j < cost.size(); ++j) found += flow.on(edges[i][j]) * cost[i][j];
    }
    std::vector<std::size_t> order(cost.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    int best = 1 << 20;
    do {
      int sum = 0;
      for (std::size_t i = 0; i < cost.size(); ++i) sum += cost[i][order[i]];
      best = std::min(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(found, best);
  }
}

}  // namespace
}  // namespace berth::place
