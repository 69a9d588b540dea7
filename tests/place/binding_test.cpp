// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <place/place.hpp>

#include "machines.hpp"
#include "rules.hpp"

namespace berth {
namespace {

using model::Binding;
using test::machine;
using testing::ElementsAre;
using testing::IsEmpty;

model::NodePlan plan(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                     Binding binding = Binding::automatic) {
  model::Policy policy;
  policy.binding = binding;
  auto result = place::plan_node(node, ranks, policy);
  EXPECT_THAT(test::violations(node, ranks, policy, result), IsEmpty());
  return result;
}

std::vector<std::string> cpus(model::NodePlan const& plan) {
  std::vector<std::string> all;
  for (auto const& placement : plan.placements) all.push_back(placement.cpus);
  return all;
}

std::vector<std::string> buses(model::NodePlan const& plan) {
  std::vector<std::string> all;
  for (auto const& placement : plan.placements) all.push_back(placement.device.substr(5, 2));
  return all;
}

// One device on each of two NUMA nodes of 4 cores.
model::Node two_devices() {
  model::Node node = machine({2, 1, 4, 1});
  test::add_gpu(node, "0000:10:00.0", 0);
  test::add_gpu(node, "0000:20:00.0", 1);
  return node;
}

// Ranks that a launcher has dealt to the packages in turn.
std::vector<model::LocalRank> in_turn(model::Node const& node, int count) {
  auto ranks = test::ranks(node, count);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].affinity = node.numa_nodes[i % 2].pus;
    ranks[i].binding_asked = true;
  }
  return ranks;
}

TEST(LauncherBinding, OfOneCoreEachIsWidenedInsideTheCgroup) {
  auto const result = plan(machine({2, 1, 8, 1}), {{0, {0}}, {1, {1}}});
  EXPECT_THAT(cpus(result), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("rebound"));
}

TEST(LauncherBinding, OfTheOnlyRankToOneCoreIsWidenedToo) {
  auto const result = plan(machine({1, 1, 8, 2}), {{0, {3, 11}}});
  EXPECT_THAT(cpus(result), ElementsAre("0-15"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("rebound"));
}

TEST(LauncherBinding, OfOneCoreEachIsKeptWhenItWasAskedFor) {
  auto const result = plan(machine({2, 1, 8, 1}), {{0, {0}, true}, {1, {1}, true}});
  EXPECT_THAT(cpus(result), ElementsAre("0", "1"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("kept-launcher-binding"));
}

TEST(LauncherBinding, OfTheOnlyRankIsKeptWhenItWasAskedFor) {
  auto const result = plan(machine({2, 1, 8, 1}), {{0, {3}, true}});
  EXPECT_THAT(cpus(result), ElementsAre("3"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("kept-launcher-binding"));
}

TEST(LauncherBinding, ThatFitsThePlanIsNotMentioned) {
  auto const result = plan(machine({1, 1, 2, 1}), {{0, {0}}, {1, {1}}});
  EXPECT_THAT(cpus(result), ElementsAre("0", "1"));
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
}

TEST(LauncherBinding, CommonToAllRanksIsRespected) {
  auto const result = plan(machine({2, 1, 8, 1}), {{0, {2, 3, 4, 5}}, {1, {2, 3, 4, 5}}});
  EXPECT_THAT(cpus(result), ElementsAre("2-3", "4-5"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("kept-launcher-binding"));
}

TEST(LauncherBinding, OfAllRanksToOneCoreIsARestriction) {
  auto const result = plan(machine({1, 1, 4, 1}), {{0, {2}}, {1, {2}}});
  EXPECT_THAT(cpus(result), ElementsAre("2", "2"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("cpu-shared", "kept-launcher-binding"));
}

TEST(LauncherBinding, MayBeUnknown) {
  model::Node const node = machine({1, 1, 4, 1});
  EXPECT_THAT(cpus(plan(node, {{0, {}}, {1, {}}})), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(cpus(plan(node, {{0, {900}}, {1, {900}}})), ElementsAre("0-1", "2-3"));
}

TEST(LauncherBinding, LeadsRanksToTheDevicesBesideThem) {
  model::Node const node = two_devices();
  auto const result = plan(node, {{0, {4, 5}, true}, {1, {1, 2, 3}, true}});
  EXPECT_THAT(buses(result), ElementsAre("20", "10"));
  EXPECT_THAT(cpus(result), ElementsAre("4-5", "1-3"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("kept-launcher-binding"));
  EXPECT_EQ(result.placements[0].reason,
            "device 1 of 2, nearest to where it was bound; 2 of 2 local cores, as bound before");
  EXPECT_EQ(result.cost, 0);
}

TEST(LauncherBinding, ToAPackageInTurnCostsNothingAndIsSharedOut) {
  model::Node const node = test::dgx();
  auto const result = plan(node, in_turn(node, 8));
  EXPECT_EQ(result.cost, 0);
  EXPECT_THAT(buses(result), ElementsAre("13", "53", "23", "63", "33", "73", "43", "83"));
  EXPECT_EQ(result.placements[0].cpus, "0-13,112-125");
  EXPECT_EQ(result.placements[1].cpus, "56-69,168-181");
  // With device i for rank i four ranks are two hops from their devices (80) and cards (40).
  EXPECT_EQ(result.launcher_cost, 4 * 120);
}

TEST(LauncherBinding, ThatMissesTheDevicesNodeIsReplaced) {
  model::Node const node = two_devices();
  std::vector<model::LocalRank> ranks{{0, {4, 5}, true}, {1, {6, 7}, true}};
  auto const result = plan(node, ranks);
  EXPECT_THAT(buses(result), ElementsAre("10", "20"));
  EXPECT_THAT(cpus(result), ElementsAre("0-3", "6-7"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("rebound"));
  EXPECT_THAT(result.placements[1].flags, ElementsAre("kept-launcher-binding"));
  EXPECT_EQ(result.launcher_cost, 80);
}

TEST(LauncherBinding, IsNeverLeftUnderRespect) {
  model::Node const node = two_devices();
  std::vector<model::LocalRank> ranks{{0, {4, 5}, true}, {1, {6, 7}, true}};
  auto const result = plan(node, ranks, Binding::respect);
  EXPECT_THAT(cpus(result), ElementsAre("4-5", "6-7"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("remote-cores", "kept-launcher-binding"));
  EXPECT_EQ(result.cost, 80);
  auto const narrow = plan(node, {{0, {4}}, {1, {5}}}, Binding::respect);
  EXPECT_THAT(cpus(narrow), ElementsAre("4", "5"));
}

TEST(LauncherBinding, IsReplacedUnderRebind) {
  model::Node const node = test::dgx();
  auto const result = plan(node, in_turn(node, 8), Binding::rebind);
  EXPECT_THAT(buses(result), ElementsAre("13", "23", "33", "43", "53", "63", "73", "83"));
  EXPECT_THAT(result.placements[0].flags, IsEmpty());
  EXPECT_THAT(result.placements[1].flags, ElementsAre("rebound"));
  auto const common = plan(two_devices(), {{0, {0}}, {1, {0}}}, Binding::rebind);
  EXPECT_THAT(cpus(common), ElementsAre("0-3", "4-7"));
}

TEST(LauncherBinding, IsReplacedInsideTheCgroupOnly) {
  model::Node node = two_devices();
  node.allowed = {0, 1, 4, 5};
  auto const result = plan(node, {{0, {4}, true}, {1, {5}, true}}, Binding::rebind);
  EXPECT_THAT(cpus(result), ElementsAre("0-1", "4-5"));
}

TEST(LauncherBinding, ToOverlappingSetsIsSharedOutInsideEach) {
  model::Node const node = machine({1, 1, 4, 1});
  auto const result = plan(node, {{0, {0, 1}, true}, {1, {1, 2}, true}, {2, {0, 2}, true}});
  for (auto const& placement : result.placements) {
    EXPECT_EQ(placement.cores, 1);
    EXPECT_THAT(placement.flags, ElementsAre("kept-launcher-binding"));
  }
}

TEST(LauncherBinding, ToHalvesOfACoreIsSharedAndSaysSo) {
  auto const result = plan(machine({1, 1, 2, 2}), {{0, {0}, true}, {1, {2}, true}});
  EXPECT_THAT(cpus(result), ElementsAre("0", "2"));
  EXPECT_THAT(result.placements[0].flags, ElementsAre("cpu-shared", "kept-launcher-binding"));
}

// "0-3 rebound; 6-7 kept-launcher-binding": what the table of docs/placement.md says.
std::string outcome(std::vector<model::LocalRank> const& ranks,
                    Binding binding = Binding::automatic) {
  std::string text;
  for (auto const& placement : plan(two_devices(), ranks, binding).placements) {
    if (!text.empty()) text += "; ";
    text += placement.device == "0000:10:00.0" ? "device 0, " : "device 1, ";
    text += placement.cpus;
    for (auto const& flag : placement.flags) text += " " + flag;
  }
  return text;
}

TEST(BindingPolicy, DoesWhatTheTableInTheDocumentationSays) {
  EXPECT_EQ(outcome({{0, {}}, {1, {}}}), "device 0, 0-3; device 1, 4-7");
  EXPECT_EQ(outcome({{0, {0}}, {1, {1}}}), "device 0, 0-3 rebound; device 1, 4-7 rebound");
  EXPECT_EQ(outcome({{0, {4, 5}}, {1, {1, 2, 3}}}),
            "device 1, 4-5 kept-launcher-binding; device 0, 1-3 kept-launcher-binding");
  std::vector<model::LocalRank> const same_side{{0, {4, 5}}, {1, {6, 7}}};
  EXPECT_EQ(outcome(same_side), "device 0, 0-3 rebound; device 1, 6-7 kept-launcher-binding");
  EXPECT_EQ(outcome(same_side, Binding::respect),
            "device 0, 4-5 remote-cores kept-launcher-binding; "
            "device 1, 6-7 kept-launcher-binding");
  EXPECT_EQ(outcome(same_side, Binding::rebind), "device 0, 0-3 rebound; device 1, 4-7 rebound");
  EXPECT_EQ(outcome({{0, {0, 1}}, {1, {0, 1}}}),
            "device 0, 0 kept-launcher-binding; device 1, 1 remote-cores kept-launcher-binding");
}

TEST(LauncherCost, IsAbsentWhenNobodyIsBound) {
  model::Node const node = test::dgx();
  EXPECT_FALSE(plan(node, test::ranks(node, 8)).launcher_cost.has_value());
  EXPECT_FALSE(plan(node, {}).launcher_cost.has_value());
  EXPECT_FALSE(plan(node, {{0, {}}}).launcher_cost.has_value());
}

TEST(LauncherCost, CountsTheDevicesThatARankSees) {
  model::Node const node = two_devices();
  model::LocalRank rank{0, {0, 1}, true};
  EXPECT_EQ(plan(node, {rank}).launcher_cost, 0);
  rank.visible = {{"0000:20:00.0", 0}};
  EXPECT_EQ(plan(node, {rank}).launcher_cost, 80);
  rank.visible = std::vector<model::DeviceKey>{};
  EXPECT_EQ(plan(node, {rank}).launcher_cost, 0);
}

}  // namespace
}  // namespace berth
