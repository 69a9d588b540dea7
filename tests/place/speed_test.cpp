// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <place/place.hpp>

#include "machines.hpp"
#include "published.hpp"
#include "rules.hpp"

namespace berth {
namespace {

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr double allowance = 1;
#else
constexpr double allowance = 25;  // without optimisation, or with checks at every access
#endif

// Of the processor, not of the wall: other tests run beside this one.
template <class Work>
double seconds(Work const& work) {
  std::clock_t const start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// The median is not moved by a machine that does something else for a while.
template <class Work>
double median_seconds(int repeats, Work const& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(seconds(work));
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats / 2)];
}

// 2 packages of 48 cores with 2 threads, 8 GPUs and 8 cards.
model::Node large_node() {
  model::Node node = test::machine({2, 1, 48, 2});
  for (int i = 0; i < 8; ++i) {
    std::string const above = fmt::format("0000:{}0:00.0", i + 1);
    test::add_gpu(node, fmt::format("0000:{}3:00.0", i + 1), i / 4, {above});
    test::add_nic(node, fmt::format("mlx5_{}", i), i / 4, {above});
  }
  return node;
}

TEST(PlanTime, OfALargeNodeIsUnderTwoMilliseconds) {
  model::Node const node = large_node();
  for (int const count : {8, 16, 4, 1, 7, 13}) {
    auto const ranks = test::ranks(node, count);
    double const time = median_seconds(31, [&] { place::plan_node(node, ranks, {}); });
    std::printf("%2d ranks: %.3f ms\n", count, 1e3 * time);
    EXPECT_LT(time, 2e-3 * allowance) << count << " ranks";
  }
}

TEST(PlanTime, OfALargeNodeWithBoundRanksIsUnderTwoMilliseconds) {
  model::Node const node = large_node();
  auto const ranks = test::ranks_bound_to_packages(node, 8);
  model::Policy policy;
  policy.fill = true;
  double const time = median_seconds(31, [&] { place::plan_node(node, ranks, policy); });
  std::printf("bound: %.3f ms\n", 1e3 * time);
  EXPECT_LT(time, 2e-3 * allowance);
}

TEST(PlanTime, OfFarTooManyRanksIsUnderFiftyMilliseconds) {
  model::Node const node = large_node();
  auto ranks = test::ranks(node, 4096);
  model::NodePlan plan;
  double const free = median_seconds(5, [&] { plan = place::plan_node(node, ranks, {}); });
  std::printf("4,096 ranks: %.1f ms\n", 1e3 * free);
  EXPECT_LT(free, 50e-3 * allowance);
  ASSERT_EQ(plan.placements.size(), 4096U);
  std::map<std::string, int> on;
  for (auto const& placement : plan.placements) ++on[placement.cpus];
  EXPECT_EQ(on.size(), 192U);
  for (auto const& [cpus, count] : on) EXPECT_NEAR(count, 4096.0 / 192, 1);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].affinity = node.cores[i % node.cores.size()].pus;
    ranks[i].binding_asked = true;
  }
  double const bound = median_seconds(5, [&] { plan = place::plan_node(node, ranks, {}); });
  std::printf("4,096 bound ranks: %.1f ms\n", 1e3 * bound);
  EXPECT_LT(bound, 100e-3 * allowance);
}

// 1,250 hosts of 5 kinds with 8 ranks each.
TEST(PlanTime, OfTenThousandRanksOnFiveKindsOfNodesIsUnderASecond) {
  std::vector<model::Node> const nodes{test::dgx_h100(), test::frontier(), test::p5(),
                                       test::ipa20(), large_node()};
  std::vector<place::HostRequest> hosts;
  for (int host = 0; host < 1250; ++host) {
    auto const kind = static_cast<std::size_t>(host % 5);
    auto ranks = test::ranks(nodes[kind], 8);
    for (auto& rank : ranks) rank.rank += 8 * host;
    hosts.push_back({kind, std::move(ranks)});
  }
  std::vector<model::NodePlan> plans;
  double const time = median_seconds(3, [&] { plans = place::plan_cluster(nodes, hosts, {}); });
  std::printf("10,000 ranks: %.1f ms\n", 1e3 * time);
  EXPECT_LT(time, 1 * allowance);
  ASSERT_EQ(plans.size(), 1250U);
  for (std::size_t host = 0; host < 5; ++host) {
    EXPECT_THAT(test::violations(nodes[host], hosts[host].ranks, {}, plans[host]),
                testing::IsEmpty());
    EXPECT_EQ(place::encode(plans[host].placements[7]),
              place::encode(plans[host + 1245].placements[7]));
  }
}

TEST(ClusterPlan, IsMadePerKindAndRequest) {
  std::vector<model::Node> const nodes{test::dgx_h100(), test::mi300a()};
  auto const few = test::ranks(nodes[0], 2);
  auto bound = few;
  bound[0].affinity = {0, 1};
  bound[0].binding_asked = true;
  auto const plans = place::plan_cluster(nodes,
                                         {{0, test::ranks(nodes[0], 8)},
                                          {1, test::ranks(nodes[1], 4)},
                                          {0, few},
                                          {0, bound},
                                          {0, few}},
                                         {});
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_EQ(plans[0].placements.size(), 8U);
  EXPECT_EQ(plans[1].placements[3].device, "0003:02:00.0");
  EXPECT_EQ(plans[2].placements[0].cpus, "0-55,112-167");
  EXPECT_EQ(plans[3].placements[0].cpus, "0-1");
  EXPECT_EQ(place::encode(plans[4].placements[1]), place::encode(plans[2].placements[1]));
  EXPECT_TRUE(place::plan_cluster(nodes, {}, {}).empty());
}

}  // namespace
}  // namespace berth
