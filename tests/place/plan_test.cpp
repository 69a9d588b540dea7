// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <place/place.hpp>
#include <sys/affinity.hpp>

#include "machines.hpp"
#include "rules.hpp"

namespace berth {
namespace {

using test::machine;
using test::ranks;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

model::NodePlan plan(model::Node const& node, int count, model::Policy const& policy = {}) {
  auto const group = ranks(node, count);
  auto result = place::plan_node(node, group, policy);
  EXPECT_THAT(test::violations(node, group, policy, result), IsEmpty()) << count << " ranks";
  return result;
}

std::vector<std::string> cpus(model::NodePlan const& plan) {
  std::vector<std::string> all;
  for (auto const& placement : plan.placements) all.push_back(placement.cpus);
  return all;
}

std::vector<std::string> devices(model::NodePlan const& plan) {
  std::vector<std::string> all;
  for (auto const& placement : plan.placements) all.push_back(placement.device);
  return all;
}

TEST(Plan, GivesEveryRankItsDeviceAndItsCardOnAnEightGpuNode) {
  model::Node const node = test::dgx();
  auto const result = plan(node, 8);
  EXPECT_EQ(result.cost, 0);
  for (int i = 0; i < 8; ++i) {
    Placement const& placement = result.placements[static_cast<std::size_t>(i)];
    EXPECT_EQ(placement.device, node.devices[static_cast<std::size_t>(i)].bus_id);
    EXPECT_THAT(placement.nics, ElementsAre("mlx5_" + std::to_string(i)));
    EXPECT_EQ(placement.nic_path, "PIX");
    EXPECT_EQ(placement.cores, 14);
    EXPECT_EQ(placement.numa_node, i / 4);
    EXPECT_THAT(placement.memory_nodes, ElementsAre(i / 4));
    EXPECT_THAT(placement.flags, IsEmpty());
    EXPECT_EQ(placement.local_rank, i);
    EXPECT_EQ(placement.local_size, 8);
  }
  EXPECT_EQ(result.placements[0].cpus, "0-13,112-125");
  EXPECT_EQ(result.placements[7].cpus, "98-111,210-223");
  EXPECT_EQ(result.placements[3].reason,
            "device 3 of 8 by bus id; 14 of 56 local cores; mlx5_3 behind the same switch");
}

TEST(Plan, KeepsTheRulesForManyRankCounts) {
  for (int const count : {1, 2, 3, 4, 5, 7, 8, 9, 16, 113}) plan(test::dgx(), count);
}

TEST(Plan, TakesBlocksOfRanksPerDeviceWhenThereAreMore) {
  model::Node node = machine({1, 1, 8, 1});
  test::add_gpu(node, "0000:01:00.0", 0);
  test::add_gpu(node, "0000:02:00.0", 0);
  auto const result = plan(node, 5);
  EXPECT_THAT(devices(result), ElementsAre("0000:01:00.0", "0000:01:00.0", "0000:01:00.0",
                                           "0000:02:00.0", "0000:02:00.0"));
  EXPECT_THAT(result.placements[0].flags, Contains("oversubscribed-device"));
}

TEST(Plan, SpreadsFewRanksOverTheNumaNodes) {
  model::Node const node = test::dgx();
  auto const result = plan(node, 2);
  EXPECT_EQ(result.placements[0].device, node.devices[0].bus_id);
  EXPECT_EQ(result.placements[1].device, node.devices[4].bus_id);
  EXPECT_EQ(result.placements[0].cores, 56);
}

TEST(Plan, SpreadsFewRanksOverThePackagesFirst) {
  model::Node node = machine({2, 4, 14, 2});
  for (int const numa : {1, 3, 5, 7}) {
    test::add_gpu(node, "0000:" + std::to_string(numa) + "0:00.0", numa);
  }
  EXPECT_THAT(devices(plan(node, 2)), ElementsAre("0000:10:00.0", "0000:50:00.0"));
  EXPECT_THAT(devices(plan(node, 1)), ElementsAre("0000:10:00.0"));
  auto const full = plan(node, 4);
  EXPECT_EQ(full.placements[0].cores, 14);
  EXPECT_THAT(full.placements[0].memory_nodes, ElementsAre(1));
  EXPECT_EQ(full.placements[0].cpus, "14-27,126-139");
}

TEST(Plan, SharesAllCoresEvenlyWithoutDevices) {
  model::Node const node = machine({2, 1, 8, 1});
  EXPECT_THAT(cpus(plan(node, 1)), ElementsAre("0-15"));
  EXPECT_THAT(cpus(plan(node, 2)), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(cpus(plan(node, 4)), ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_THAT(cpus(plan(node, 3)), ElementsAre("0-4", "5-9", "10-15"));
  EXPECT_THAT(plan(node, 1).placements[0].memory_nodes, ElementsAre(0, 1));
  EXPECT_EQ(plan(node, 2).placements[1].reason, "8 of 16 allowed cores");
}

TEST(Plan, LeavesDevicesAloneWhenTheyAreNotWanted) {
  model::Policy policy;
  policy.use_devices = false;
  auto const result = plan(test::dgx(), 2, policy);
  EXPECT_THAT(devices(result), ElementsAre("", ""));
  EXPECT_EQ(result.placements[0].cores, 56);
  EXPECT_EQ(result.placements[1].cores, 56);
}

TEST(Plan, GivesWholeCoresOrOneThreadOfEach) {
  model::Node const node = machine({1, 1, 4, 2});
  EXPECT_THAT(cpus(plan(node, 2)), ElementsAre("0-1,4-5", "2-3,6-7"));
  model::Policy policy;
  policy.smt = false;
  EXPECT_THAT(cpus(plan(node, 2, policy)), ElementsAre("0-1", "2-3"));
}

TEST(Plan, SharesOneCoreAmongFiveRanks) {
  auto const result = plan(machine({1, 1, 1, 1}), 5);
  for (auto const& placement : result.placements) {
    EXPECT_EQ(placement.cpus, "0");
    EXPECT_EQ(placement.cores, 1);
    EXPECT_THAT(placement.flags, Contains("cpu-shared"));
  }
  EXPECT_EQ(result.placements[0].reason, "1 of 1 allowed core, shared by 5 ranks");
}

TEST(Plan, SharesTwoCoresFairlyAmongFiveRanks) {
  auto const result = plan(machine({1, 1, 2, 1}), 5);
  EXPECT_THAT(cpus(result), ElementsAre("0", "0", "0", "1", "1"));
}

TEST(Plan, StaysInsideTheCgroup) {
  model::Node node = machine({2, 1, 8, 2});
  node.allowed = sys::parse_cpulist("4-7,20-23");
  auto const result = plan(node, 2);
  EXPECT_THAT(cpus(result), ElementsAre("4-5,20-21", "6-7,22-23"));
}

TEST(Plan, UsesOnlyTheAllowedThreadsOfACore) {
  model::Node node = machine({1, 1, 4, 2});
  node.allowed = {0, 1, 2, 6};
  EXPECT_THAT(cpus(plan(node, 3)), ElementsAre("0", "1", "2,6"));
}

TEST(Plan, TakesTheNearestCoresWhenNoLocalOneIsAllowed) {
  model::Node node = machine({2, 2, 2, 1});
  test::add_gpu(node, "0000:01:00.0", 0);
  test::add_gpu(node, "0000:02:00.0", 3);
  node.allowed = {2, 3, 6, 7};  // NUMA nodes 1 and 3
  auto const result = plan(node, 2);
  EXPECT_THAT(cpus(result), ElementsAre("2-3", "6-7"));
  EXPECT_THAT(result.placements[0].flags, Contains("remote-cores"));
  EXPECT_THAT(result.placements[1].flags, IsEmpty());
  EXPECT_EQ(result.placements[0].cost, 40);
  EXPECT_EQ(result.placements[0].reason, "device 0 of 2 by bus id; 2 of 2 nearest allowed cores");
}

TEST(Plan, SharesTheOnlyAllowedNodeAmongAllDevices) {
  model::Node node = machine({2, 4, 14, 1});
  for (int const numa : {1, 3, 5, 7}) {
    test::add_gpu(node, "0000:" + std::to_string(numa) + "0:00.0", numa);
  }
  node.allowed = node.numa_nodes[1].pus;
  auto const result = place::plan_node(node, ranks(node, 4), {});
  EXPECT_THAT(cpus(result), ElementsAre("14-16", "17-20", "21-23", "24-27"));
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
  EXPECT_THAT(result.placements[3].flags, Contains("remote-cores"));
}

TEST(Plan, SplitsEvenlyWhereNobodyKnowsTheLocality) {
  model::Node node = machine({2, 1, 4, 1});
  test::add_gpu(node, "0000:00:1d.0", -1);
  test::add_gpu(node, "0000:00:1e.0", -1);
  auto const result = plan(node, 2);
  EXPECT_THAT(cpus(result), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(result.placements[0].flags, Contains("no-locality"));
}

TEST(Plan, KeepsKnownAndUnknownDevicesApart) {
  model::Node node = machine({2, 1, 4, 1});
  test::add_gpu(node, "0000:01:00.0", 0);
  test::add_gpu(node, "0000:02:00.0", -1);
  EXPECT_THAT(cpus(place::plan_node(node, ranks(node, 2), {})), ElementsAre("0-3", "4-7"));
}

TEST(Plan, KnowsADeviceByItsPackageWhenThatIsAll) {
  model::Node node = machine({2, 2, 2, 1});
  test::add_gpu(node, "0000:01:00.0", -1);
  test::add_gpu(node, "0000:02:00.0", 3);
  node.devices[0].package = 1;
  auto const result = place::plan_node(node, ranks(node, 2), {});
  EXPECT_THAT(cpus(result), ElementsAre("4-5", "6-7"));
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
}

TEST(Plan, SaysWhoLeavesHisNodeWhenAPackageIsTooCrowded) {
  model::Node node = machine({2, 2, 2, 1});
  test::add_gpu(node, "0000:01:00.0", 2);
  test::add_gpu(node, "0000:02:00.0", -1);
  node.devices[1].package = 1;
  node.allowed = {4, 5, 6};  // the second device has one core of its own for three ranks
  auto const result = place::plan_node(node, ranks(node, 6), {});
  for (auto const& placement : result.placements) {
    bool const away = placement.device == "0000:01:00.0" && placement.cpus == "6";
    EXPECT_THAT(placement.flags, Contains("cpu-shared"));
    EXPECT_EQ(testing::Value(placement.flags, Contains("remote-cores")), away) << placement.cpus;
  }
}

TEST(Plan, PutsRanksOnTheCacheBesideTheirDevices) {
  model::Node node = machine({1, 1, 8, 1});
  test::add_gpu(node, "0000:01:00.0", 0);
  test::add_gpu(node, "0000:02:00.0", 0);
  node.devices[0].local_pus = {4, 5, 6, 7};
  node.devices[1].local_pus = {0, 1, 2, 3};
  EXPECT_THAT(cpus(plan(node, 2)), ElementsAre("4-7", "0-3"));
}

TEST(Plan, NeverAllocatesFromMemoryWithoutProcessors) {
  model::Node node = machine({1, 1, 4, 1});
  model::NumaNode gpu_memory;
  gpu_memory.os_index = 1;
  gpu_memory.memory_bytes = 1UL << 40;
  gpu_memory.subtype = "GPUMemory";
  node.numa_nodes.push_back(gpu_memory);
  test::add_gpu(node, "0000:01:00.0", 0);
  EXPECT_THAT(plan(node, 1).placements[0].memory_nodes, ElementsAre(0));
}

TEST(Plan, SaysWhenTheMemoryIsElsewhere) {
  model::Node node = machine({2, 1, 2, 1});
  for (auto& core : node.cores) core.numa = 0;
  auto const result = place::plan_node(node, ranks(node, 2), {});
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
  EXPECT_THAT(result.placements[1].flags, Contains("no-local-memory"));
}

TEST(Plan, OfNobodyOrNothingIsEmpty) {
  EXPECT_THAT(place::plan_node(test::dgx(), {}, {}).placements, IsEmpty());
  model::Node const nothing;
  auto const result = place::plan_node(nothing, ranks(nothing, 2), {});
  ASSERT_EQ(result.placements.size(), 2U);
  EXPECT_EQ(result.placements[0].cpus, "");
  EXPECT_EQ(result.placements[0].reason, "the processors are not known");
}

TEST(Plan, IsTheSameEveryTime) {
  auto const first = plan(test::dgx(), 13);
  auto const second = plan(test::dgx(), 13);
  for (std::size_t i = 0; i < first.placements.size(); ++i) {
    EXPECT_EQ(place::encode(first.placements[i]), place::encode(second.placements[i]));
  }
}

}  // namespace
}  // namespace berth
