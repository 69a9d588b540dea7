// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <place/hops.hpp>
#include <place/place.hpp>

#include "machines.hpp"

namespace berth {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

Placement plan_one(model::Node const& node) {
  return place::plan_node(node, test::ranks(node, 1), {}).placements.front();
}

TEST(NicPath, IsClassedByTheBridgesAboveBoth) {
  model::Node node = test::machine({2, 2, 2, 1});
  test::add_gpu(node, "0000:03:00.0", 0,
                {"0000:02:00.0", "0000:01:00.0", "0000:00:01.0", "host0000:00"});
  auto const path = [&](int numa, std::vector<std::string> const& bridges) {
    node.nics.clear();
    test::add_nic(node, "mlx5_0", numa, bridges);
    return plan_one(node).nic_path;
  };
  EXPECT_EQ(path(0, {"0000:02:01.0", "0000:01:00.0", "0000:00:01.0", "host0000:00"}), "PIX");
  EXPECT_EQ(path(0, {"0000:04:00.0", "0000:00:01.0", "host0000:00"}), "PXB");
  EXPECT_EQ(path(0, {"0000:00:02.0", "host0000:00"}), "PHB");
  EXPECT_EQ(path(0, {"0000:40:01.0", "host0000:40"}), "NODE");
  EXPECT_EQ(path(1, {"0000:40:01.0", "host0000:40"}), "SOCK");
  EXPECT_EQ(path(3, {"0000:40:01.0", "host0000:40"}), "SYS");
  EXPECT_EQ(path(-1, {}), "UNK");
}

TEST(NicPath, OnTheRootBusOfAVirtualMachineIsUnknown) {
  model::Node node = test::machine({2, 1, 2, 1});
  test::add_gpu(node, "0000:00:1e.0", -1, {"host0000:00"});
  test::add_nic(node, "rdmap0s31", -1, {"host0000:00"});
  EXPECT_EQ(plan_one(node).nic_path, "UNK");
}

TEST(NicChoice, PrefersSamePciSwitchOverSameNuma) {
  model::Node node = test::machine({1, 1, 4, 1});
  test::add_gpu(node, "0000:83:00.0", 0, {"0000:82:00.0", "0000:81:00.0", "host0000:80"});
  test::add_nic(node, "a_fast", 0, {"host0000:10"}, 800);
  test::add_nic(node, "b_near", 0, {"0000:82:01.0", "0000:81:00.0", "host0000:80"}, 100);
  EXPECT_THAT(plan_one(node).nics, ElementsAre("b_near"));
}

TEST(NicChoice, PrefersTheFasterOfEquallyNearCards) {
  model::Node node = test::machine({1, 1, 4, 1});
  test::add_gpu(node, "0000:83:00.0", 0);
  test::add_nic(node, "a", 0, {}, 100);
  test::add_nic(node, "b", 0, {}, 400);
  EXPECT_THAT(plan_one(node).nics, ElementsAre("b"));
}

TEST(NicChoice, BalancesRanksOverEqualCards) {
  model::Node node = test::machine({1, 1, 8, 1});
  for (int i = 0; i < 4; ++i) test::add_gpu(node, "0000:0" + std::to_string(i + 1) + ":00.0", 0);
  test::add_nic(node, "mlx5_0", 0);
  test::add_nic(node, "mlx5_1", 0);
  auto const plan = place::plan_node(node, test::ranks(node, 4), {});
  EXPECT_EQ(plan.placements[0].nics.front(), "mlx5_0");
  EXPECT_EQ(plan.placements[1].nics.front(), "mlx5_1");
  EXPECT_EQ(plan.placements[2].nics.front(), "mlx5_0");
  EXPECT_EQ(plan.placements[3].nics.front(), "mlx5_1");
}

TEST(NicChoice, DealsOutSeveralCardsPerDeviceWithoutSharing) {
  model::Node node = test::machine({2, 1, 4, 1});
  for (int i = 0; i < 2; ++i) {
    std::string const bridge = "0000:" + std::to_string(i + 1) + "0:00.0";
    test::add_gpu(node, "0000:" + std::to_string(i + 1) + "1:00.0", i, {bridge});
    for (int k = 0; k < 4; ++k) {
      test::add_nic(node, "efa" + std::to_string(i) + std::to_string(k), i, {bridge});
    }
  }
  auto const plan = place::plan_node(node, test::ranks(node, 2), {});
  EXPECT_THAT(plan.placements[0].nics, ElementsAre("efa00", "efa01", "efa02", "efa03"));
  EXPECT_THAT(plan.placements[1].nics, ElementsAre("efa10", "efa11", "efa12", "efa13"));
  EXPECT_EQ(plan.cost, 0);
}

TEST(NicChoice, TakesEthernetOnlyWithoutFabric) {
  model::Node node = test::machine({1, 1, 4, 1});
  test::add_nic(node, "eth0", 0);
  node.nics.back().fabric = false;
  EXPECT_THAT(plan_one(node).nics, ElementsAre("eth0"));
  EXPECT_EQ(plan_one(node).cost, 0);
  test::add_nic(node, "mlx5_0", 0);
  EXPECT_THAT(plan_one(node).nics, ElementsAre("mlx5_0"));
}

TEST(NicChoice, FlagsAFabricThatIsFar) {
  model::Node node = test::machine({2, 1, 4, 1});
  test::add_gpu(node, "0000:83:00.0", 1);
  test::add_nic(node, "mlx5_0", 0);
  auto const placement = plan_one(node);
  EXPECT_EQ(placement.nic_path, "SYS");
  EXPECT_THAT(placement.flags, Contains("no-near-nic"));
  EXPECT_EQ(placement.cost, 100 * 5 + 20 * 2);
}

TEST(NicChoice, MayHaveNothingToChooseFrom) {
  auto const placement = plan_one(test::machine({1, 1, 2, 1}));
  EXPECT_THAT(placement.nics, IsEmpty());
  EXPECT_EQ(placement.nic_path, "");
  EXPECT_THAT(placement.flags, Not(Contains("no-near-nic")));
}

TEST(NumaHops, ComeFromTheMachinesTableWhereThereIsOne) {
  model::Node node = test::machine({2, 2, 1, 1});
  EXPECT_EQ(place::numa_hops(node, 0, 0), 0);
  EXPECT_EQ(place::numa_hops(node, 0, 1), 1);
  EXPECT_EQ(place::numa_hops(node, 0, 2), 2);
  EXPECT_EQ(place::numa_hops(node, -1, 2), 0);
  node.numa_distance.assign(4, std::vector<double>(4, 1.5));
  EXPECT_EQ(place::numa_hops(node, 0, 2), 1.5);
}

}  // namespace
}  // namespace berth
