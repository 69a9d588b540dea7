// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <place/place.hpp>

#include "machines.hpp"
#include "published.hpp"
#include "rules.hpp"

// The edge cases that real machines and jobs bring, one test each.

namespace berth {
namespace {

using test::machine;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

model::NodePlan plan(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                     model::Policy const& policy = {}) {
  auto result = place::plan_node(node, ranks, policy);
  EXPECT_THAT(test::violations(node, ranks, policy, result), IsEmpty());
  return result;
}

template <class Get>
auto all(model::NodePlan const& plan, Get const& get) {
  std::vector<std::decay_t<decltype(get(plan.placements[0]))>> values;
  for (auto const& placement : plan.placements) values.push_back(get(placement));
  return values;
}

std::vector<std::string> cpus(model::NodePlan const& plan) {
  return all(plan, [](Placement const& placement) { return placement.cpus; });
}

// The bus of each device, or "".
std::vector<std::string> buses(model::NodePlan const& plan) {
  return all(plan, [](Placement const& placement) {
    return placement.device.empty() ? std::string() : placement.device.substr(5, 2);
  });
}

std::vector<model::DeviceKey> keys(model::Node const& node, std::vector<int> const& indices) {
  std::vector<model::DeviceKey> found;
  for (int const index : indices) {
    auto const& device = node.devices[static_cast<std::size_t>(index)];
    found.push_back({device.bus_id, device.partition});
  }
  return found;
}

// What each rank sees, by index.
std::vector<model::LocalRank> seeing(model::Node const& node,
                                     std::vector<std::vector<int>> const& sets) {
  auto ranks = test::ranks(node, static_cast<int>(sets.size()));
  for (std::size_t i = 0; i < sets.size(); ++i) ranks[i].visible = keys(node, sets[i]);
  return ranks;
}

std::string refusal(model::Node const& node, std::vector<model::LocalRank> const& ranks) {
  try {
    place::plan_node(node, ranks, {});
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::no_device);
    return std::to_string(error.rank()) + ": " + error.what();
  }
  return "";
}

// Two NUMA nodes of 4 cores with two devices each.
model::Node four_devices() {
  model::Node node = machine({2, 1, 4, 1});
  for (int i = 0; i < 4; ++i) {
    test::add_gpu(node, "0000:" + std::to_string(i + 1) + "0:00.0", i / 2);
  }
  return node;
}

TEST(Visible, OneDevicePerTaskIsUsedAndTheCoresFollowIt) {
  model::Node const node = four_devices();
  auto const result = plan(node, seeing(node, {{3}, {0}, {2}, {1}}));
  EXPECT_THAT(buses(result), ElementsAre("40", "10", "30", "20"));
  EXPECT_THAT(cpus(result), ElementsAre("4-5", "0-1", "6-7", "2-3"));
  EXPECT_EQ(result.placements[0].numa_node, 1);
  EXPECT_THAT(result.placements[0].reason, HasSubstr("the only one it sees"));
}

TEST(Visible, TheSameLargerSetIsDividedByLocalRank) {
  model::Node const node = four_devices();
  EXPECT_THAT(buses(plan(node, seeing(node, {{1, 2}, {1, 2}}))), ElementsAre("20", "30"));
  EXPECT_THAT(buses(plan(node, seeing(node, {{3, 0, 1}, {3, 0, 1}}))), ElementsAre("10", "40"));
  // Each task lists all, its own first: the set counts.
  EXPECT_THAT(
      buses(plan(node, seeing(node, {{1, 0, 2, 3}, {0, 1, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}}))),
      ElementsAre("10", "20", "30", "40"));
}

TEST(Visible, DifferentSetsAreMatched) {
  model::Node const node = four_devices();
  EXPECT_THAT(buses(plan(node, seeing(node, {{0, 1}, {0}, {1, 2}}))),
              ElementsAre("20", "10", "30"));
  auto ranks = seeing(node, {{0, 1}, {0, 1}, {0, 1, 2}});
  EXPECT_THAT(buses(plan(node, ranks)), ElementsAre("10", "20", "30"));
}

TEST(Visible, RanksThatCollideAreNamed) {
  model::Node node = four_devices();
  node.host = "n7";
  auto ranks = seeing(node, {{0}, {0, 1, 2, 3}, {0}});
  for (auto& rank : ranks) rank.rank += 40;
  EXPECT_EQ(refusal(node, ranks),
            "40: ranks 40, 42 see only 1 device on n7 (0000:10:00.0), while others have devices to "
            "spare; give every rank its own device or all ranks the same list");
}

TEST(Visible, ASetThatOthersHaveTakenIsNamedToo) {
  model::Node const node = four_devices();
  auto ranks = seeing(node, {{0, 1}, {0}});
  ranks[0].chosen = keys(node, {0}).front();
  EXPECT_THAT(refusal(node, ranks),
              HasSubstr("1: rank 1 sees only 1 device on made (0000:10:00.0), set by other ranks"));
}

TEST(Visible, FewerDevicesThanRanksAreShared) {
  model::Node const node = four_devices();
  auto const same = plan(node, seeing(node, {{1, 2}, {1, 2}, {1, 2}}));
  EXPECT_THAT(buses(same), ElementsAre("20", "20", "30"));
  EXPECT_THAT(same.placements[0].flags, Contains("oversubscribed-device"));
  EXPECT_THAT(same.placements[2].flags, Not(Contains("oversubscribed-device")));
  auto const different = plan(node, seeing(node, {{0}, {0, 1}, {1}}));
  EXPECT_THAT(buses(different), ElementsAre("10", "10", "20"));
}

TEST(Visible, NoneMeansNoDevice) {
  model::Node const node = four_devices();
  auto const result = plan(node, seeing(node, {{}, {0}}));
  EXPECT_THAT(buses(result), ElementsAre("", "10"));
  EXPECT_THAT(result.placements[0].reason, HasSubstr("it sees no device"));
  EXPECT_FALSE(result.placements[0].cpus.empty());
}

TEST(Visible, ADeviceThatReadingDidNotFindIsKeptWithoutLocality) {
  model::Node const node = machine({2, 1, 4, 1});  // a container hides the PCI bus
  auto ranks = test::ranks(node, 2);
  ranks[0].visible = {{"0000:20:00.0", 0}};
  ranks[1].visible = {{"0000:10:00.0", 0}};
  auto const result = place::plan_node(node, ranks, {});
  EXPECT_THAT(buses(result), ElementsAre("20", "10"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("no-locality"));
  EXPECT_THAT(cpus(result), ElementsAre("0-3", "4-7"));
}

TEST(Visible, TheCallersDeviceIsKept) {
  model::Node const node = four_devices();
  auto ranks = test::ranks(node, 4);
  ranks[2].chosen = keys(node, {0}).front();
  auto const result = plan(node, ranks);
  EXPECT_THAT(buses(result), ElementsAre("20", "30", "10", "40"));
  EXPECT_THAT(result.placements[2].flags, ElementsAre("kept-user-device"));
  EXPECT_THAT(result.placements[2].reason, HasSubstr("set by the caller"));
}

TEST(Cgroup, OnTheNearestNodeIsBetterThanOnAFarOne) {
  model::Node node = machine({1, 4, 2, 1});
  node.numa_distance = {{0, 3, 1, 2}, {3, 0, 2, 1}, {1, 2, 0, 3}, {2, 1, 3, 0}};
  test::add_gpu(node, "0000:10:00.0", 0);
  node.allowed = {2, 3, 4, 5, 6, 7};
  auto const result = plan(node, test::ranks(node, 1));
  EXPECT_THAT(cpus(result), ElementsAre("4-5"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("remote-cores"));
  EXPECT_EQ(result.cost, 40);
}

TEST(Cgroup, WithTooFewLocalCoresSendsRanksWhereThereIsRoom) {
  model::Node node = machine({2, 2, 2, 1});
  for (int i = 0; i < 3; ++i) test::add_gpu(node, "0000:" + std::to_string(i + 1) + "0:00.0", 0);
  node.allowed = {1, 2, 3, 4, 5, 6, 7};
  auto const result = plan(node, test::ranks(node, 3));
  EXPECT_THAT(cpus(result), ElementsAre("1", "2", "3"));
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
  EXPECT_THAT(result.placements[2].flags, ElementsAre("remote-cores"));
}

TEST(Cgroup, OfAJobLeadsToTheDevicesInsideIt) {
  model::Node node = four_devices();
  node.allowed = {4, 5, 6, 7};  // the other job has the first package
  EXPECT_THAT(buses(plan(node, test::ranks(node, 2))), ElementsAre("30", "40"));
  EXPECT_THAT(buses(plan(node, test::ranks(node, 1))), ElementsAre("30"));
}

TEST(Cgroup, WithFewerCoresThanRanksIsSharedAndSaysSo) {
  model::Node node = machine({2, 1, 24, 1});  // 4 of 48 cores and 16 GPUs
  for (int i = 0; i < 16; ++i) {
    test::add_gpu(node, "0000:" + std::to_string(10 + i) + ":00.0", i / 8);
  }
  node.allowed = {0, 1, 24, 25};
  auto const result = plan(node, test::ranks(node, 16));
  EXPECT_EQ(result.placements[0].cpus, "0");
  EXPECT_EQ(result.placements[4].cpus, "1");
  EXPECT_EQ(result.placements[15].cpus, "25");
  EXPECT_THAT(result.placements[15].flags, ElementsAre("cpu-shared"));
  EXPECT_THAT(result.placements[15].reason, HasSubstr("shared by 4 ranks"));
}

TEST(Cgroup, WithThreadsForAllRanksDividesTheCores) {
  auto const result = plan(machine({1, 1, 2, 2}), test::ranks(machine({1, 1, 2, 2}), 3));
  EXPECT_THAT(cpus(result), ElementsAre("0", "2", "1,3"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("cpu-shared"));
  EXPECT_EQ(result.placements[0].reason,
            "1 of 2 allowed cores, shared by 2 ranks with threads of their own");
  EXPECT_THAT(result.placements[2].flags, IsEmpty());
  model::Policy policy;
  policy.smt = false;
  EXPECT_THAT(cpus(plan(machine({1, 1, 2, 2}), test::ranks(machine({1, 1, 2, 2}), 3), policy)),
              ElementsAre("0", "0", "1"));
}

TEST(Smt, OnlySomeThreadsOnlineGivesTheseAlone) {
  model::Node node = machine({2, 1, 4, 2});
  node.allowed = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(cpus(plan(node, test::ranks(node, 2))), ElementsAre("0-3", "4-7"));
}

TEST(Caches, AreCutAtTheirEdgesWhereThatIsFair) {
  model::Node node = machine({1, 1, 28, 1});
  for (std::size_t i = 0; i < node.cores.size(); ++i) node.cores[i].l3 = static_cast<int>(i) / 4;
  // 28 cores for 3 are 9.3: edges at 8 and 20, pieces of 8, 12, 8.
  EXPECT_THAT(cpus(plan(node, test::ranks(node, 3))), ElementsAre("0-7", "8-19", "20-27"));
  // For 5 they are 5.6: pieces of 4 are too small.
  EXPECT_THAT(cpus(plan(node, test::ranks(node, 5))),
              ElementsAre("0-4", "5-10", "11-15", "16-21", "22-27"));
}

TEST(Numa, NodesWithoutDeviceAreIdleUnlessFilledUp) {
  model::Node node = machine({2, 2, 4, 1});
  test::add_gpu(node, "0000:10:00.0", 1);
  test::add_gpu(node, "0000:20:00.0", 1);
  EXPECT_THAT(cpus(plan(node, test::ranks(node, 2))), ElementsAre("4-5", "6-7"));
  model::Policy policy;
  policy.fill = true;
  auto const result = plan(node, test::ranks(node, 2), policy);
  // Node 0 first, then the other package.
  EXPECT_THAT(cpus(result), ElementsAre("0-1,4-5,8-9,12-13", "2-3,6-7,10-11,14-15"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("filled"));
  EXPECT_THAT(result.placements[0].memory_nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(result.placements[0].reason,
            "device 0 of 2 by bus id; 2 of 4 local cores, 6 filled in");
}

TEST(Numa, ADeviceBesideOneCacheHasTheNodeWhenThatCacheIsNotAllowed) {
  model::Node node = test::frontier();
  node.allowed.erase(std::remove_if(node.allowed.begin(), node.allowed.end(),
                                    [](int pu) { return pu % 64 >= 48 && pu % 64 < 56; }),
                     node.allowed.end());
  auto const result = plan(node, test::ranks(node, 8));
  EXPECT_EQ(result.placements[0].cpus, "56-59,120-123");
  EXPECT_EQ(result.placements[1].cpus, "60-63,124-127");
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
}

TEST(Locality, UnknownSplitsEvenlyAndDealsTheCardsInStep) {
  model::Node node = machine({2, 1, 4, 1});
  for (int i = 0; i < 4; ++i) {
    test::add_gpu(node, "0000:00:1" + std::to_string(i) + ".0", -1, {"host0000:00"});
  }
  for (int i = 0; i < 2; ++i) test::add_nic(node, "rdmap" + std::to_string(i), -1, {"host0000:00"});
  auto const result = plan(node, test::ranks(node, 4));
  EXPECT_THAT(cpus(result), ElementsAre("0-1", "2-3", "4-5", "6-7"));
  EXPECT_THAT(all(result, [](auto const& p) { return p.nics.front(); }),
              ElementsAre("rdmap0", "rdmap1", "rdmap0", "rdmap1"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("no-locality"));
  EXPECT_EQ(result.placements[0].nic_path, "UNK");
}

TEST(Cards, OfTheFastestClassWinOverManagementOnes) {
  model::Node node = machine({1, 1, 4, 1});
  test::add_gpu(node, "0000:10:00.0", 0);
  test::add_nic(node, "ibp115s0", 0, {}, 100);
  test::add_nic(node, "ibp200s0", 0, {}, 400);
  EXPECT_THAT(plan(node, test::ranks(node, 1)).placements[0].nics, ElementsAre("ibp200s0"));
}

TEST(Cards, AreSharedOutWhenTwoRanksHaveOneGpu) {
  model::Node const node = test::p5();
  auto const result = plan(node, test::ranks(node, 16));
  EXPECT_THAT(result.placements[0].nics, ElementsAre("rdmap79s0", "rdmap81s0"));
  EXPECT_THAT(result.placements[1].nics, ElementsAre("rdmap80s0", "rdmap82s0"));
  EXPECT_THAT(result.placements[15].nics, ElementsAre("rdmap199s0", "rdmap201s0"));
}

TEST(Cards, OfARankThatHasNoOtherChoiceAreLeftToIt) {
  model::Node node = machine({1, 1, 4, 1});
  test::add_gpu(node, "0000:10:00.0", 0);
  test::add_gpu(node, "0000:20:00.0", 0, {"0000:02:00.0"});
  test::add_nic(node, "a", 0, {"0000:02:00.0"});
  test::add_nic(node, "b", 0);
  // Greedily the first would take a; the second has nothing else behind its switch.
  auto const result = plan(node, test::ranks(node, 2));
  EXPECT_EQ(result.placements[0].nics, std::vector<std::string>{"b"});
  EXPECT_EQ(result.placements[1].nics, std::vector<std::string>{"a"});
  EXPECT_EQ(result.cost, 300);
}

TEST(Cards, AreInTheOrderOfTheirNumbers) {
  model::Node node = machine({1, 1, 12, 1});
  for (int i = 0; i < 12; ++i) test::add_gpu(node, "0000:" + std::to_string(10 + i) + ":00.0", 0);
  for (char const* const name : {"mlx5_0", "mlx5_1", "mlx5_10", "mlx5_11", "mlx5_2", "mlx5_3",
                                 "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9"}) {
    test::add_nic(node, name, 0);
  }
  auto const result = plan(node, test::ranks(node, 12));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(result.placements[i].nics.front(), "mlx5_" + std::to_string(i));
  }
}

TEST(Devices, AreKeyedByBusIdWhateverTheirOrderInCuda) {
  model::Node const node = test::ipa20();
  // CUDA counts 5f first, as the fastest.
  auto const result =
      plan(node, seeing(node, {{1, 0, 2, 3}, {1, 0, 2, 3}, {1, 0, 2, 3}, {1, 0, 2, 3}}));
  EXPECT_THAT(buses(result), ElementsAre("4e", "5f", "cb", "db"));
  EXPECT_EQ(result.placements[1].numa_node, 1);
}

TEST(Devices, OnOneBusIdAreDistinct) {
  model::Node node = machine({1, 1, 6, 1});
  for (int i = 0; i < 3; ++i) {
    test::add_gpu(node, "0000:02:00.0", 0);
    node.devices.back().partition = i;
  }
  auto const result = plan(node, test::ranks(node, 3));
  EXPECT_THAT(all(result, [](auto const& p) { return p.partition; }), ElementsAre(0, 1, 2));
  for (auto const& placement : result.placements) EXPECT_THAT(placement.flags, IsEmpty());
  auto ranks = test::ranks(node, 2);
  ranks[0].visible = {{"0000:02:00.0", 2}};
  ranks[1].visible = {{"0000:02:00.0", 1}};
  EXPECT_THAT(all(plan(node, ranks), [](auto const& p) { return p.partition; }), ElementsAre(2, 1));
}

TEST(Devices, OfFewRanksAreOnDifferentBusIds) {
  model::Node node = machine({1, 1, 6, 1});
  for (int i = 0; i < 4; ++i) {
    test::add_gpu(node, i < 2 ? "0000:02:00.0" : "0000:03:00.0", 0);
    node.devices.back().partition = i % 2;
  }
  EXPECT_THAT(buses(plan(node, test::ranks(node, 2))), ElementsAre("02", "03"));
}

TEST(Devices, OfASingleRankIsTheOneWithTheBestPath) {
  model::Node node = four_devices();
  test::add_nic(node, "mlx5_0", 1);
  auto const result = plan(node, test::ranks(node, 1));
  EXPECT_THAT(buses(result), ElementsAre("30"));
  EXPECT_THAT(result.placements[0].reason, HasSubstr("best path to a card"));
}

TEST(Memory, OfANodeWithoutAnyIsTheNearest) {
  model::Node node = machine({2, 2, 2, 1});
  node.numa_nodes[3].memory_bytes = 0;  // no module in its slots
  test::add_gpu(node, "0000:10:00.0", 3);
  auto const result = plan(node, test::ranks(node, 1));
  EXPECT_THAT(cpus(result), ElementsAre("6-7"));
  EXPECT_THAT(result.placements[0].memory_nodes, ElementsAre(2));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("no-local-memory"));
}

TEST(Memory, ThatIsFastButAllThereIsIsUsed) {
  model::Node node = machine({1, 1, 4, 1});
  node.numa_nodes[0].subtype = "HBM";
  test::add_gpu(node, "0000:10:00.0", 0);
  auto const result = plan(node, test::ranks(node, 1));
  EXPECT_THAT(result.placements[0].memory_nodes, ElementsAre(0));
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
}

TEST(Kinds, AreMixedAlikeForAllRanks) {
  model::Node node = machine({1, 1, 20, 1});
  for (std::size_t i = 10; i < 20; ++i) node.cores[i].kind = 1;
  EXPECT_THAT(cpus(plan(node, test::ranks(node, 2))), ElementsAre("0-4,10-14", "5-9,15-19"));
  // One fast core for two ranks: the other gets a slow one more.
  node.allowed = {0, 1, 2, 10};
  EXPECT_THAT(cpus(plan(node, test::ranks(node, 2))), ElementsAre("0,10", "1-2"));
}

}  // namespace
}  // namespace berth
