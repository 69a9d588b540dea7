// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "published.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <base/text.hpp>
#include <place/place.hpp>

#include "machines.hpp"
#include "rules.hpp"

// Whole plans that were worked out by hand from the rules of docs/placement.md, before the planner
// ran; a comment says how. A line is: device | CPUs | memory | cards, path | cost, flags.

namespace berth {
namespace {

using Lines = std::vector<std::string>;

std::string line(Placement const& placement) {
  std::string memory;
  for (int const node : placement.memory_nodes) memory += fmt::format(" {}", node);
  return fmt::format("{} | {} |{} | {} {} | {}{}{}",
                     placement.device.empty() ? "-" : placement.device, placement.cpus, memory,
                     base::join(placement.nics, " "), placement.nic_path,
                     fmt::format("{:.1f}", placement.cost), placement.flags.empty() ? "" : " ",
                     base::join(placement.flags, " "));
}

void expect_plan(model::Node const& node, Lines const& expected, double cost,
                 model::Policy const& policy = {}) {
  auto const ranks = test::ranks(node, static_cast<int>(expected.size()));
  auto const plan = place::plan_node(node, ranks, policy);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(line(plan.placements[i]), expected[i]) << "rank " << i;
  }
  EXPECT_NEAR(plan.cost, cost, 1e-6);
  EXPECT_THAT(test::violations(node, ranks, policy, plan), testing::IsEmpty());
}

// 4 GPUs share 56 cores: 14 each, and the sibling of core c is c + 112. Each has its own card below
// its switch (two ports away: PIX); the storage cards are farther and stay unused. Nothing costs.
TEST(HandMadePlan, DgxH100) {
  expect_plan(test::dgx_h100(),
              {"0000:1b:00.0 | 0-13,112-125 | 0 | mlx5_0 PIX | 0.0",
               "0000:43:00.0 | 14-27,126-139 | 0 | mlx5_3 PIX | 0.0",
               "0000:52:00.0 | 28-41,140-153 | 0 | mlx5_4 PIX | 0.0",
               "0000:61:00.0 | 42-55,154-167 | 0 | mlx5_5 PIX | 0.0",
               "0000:9d:00.0 | 56-69,168-181 | 1 | mlx5_6 PIX | 0.0",
               "0000:c3:00.0 | 70-83,182-195 | 1 | mlx5_9 PIX | 0.0",
               "0000:d1:00.0 | 84-97,196-209 | 1 | mlx5_10 PIX | 0.0",
               "0000:df:00.0 | 98-111,210-223 | 1 | mlx5_11 PIX | 0.0"},
              0);
}

// Each die has the 8 cores of its L3 group; in bus order these are groups 6 7 2 3 0 1 4 5. The odd
// die meets the card at its host bridge (PHB: 200), the even one in the NUMA node only (NODE: 300).
// Both use it: the second pays 10.
TEST(HandMadePlan, Frontier) {
  expect_plan(test::frontier(),
              {"0000:c1:00.0 | 48-55,112-119 | 3 | hsn0 NODE | 300.0",
               "0000:c6:00.0 | 56-63,120-127 | 3 | hsn0 PHB | 210.0",
               "0000:c9:00.0 | 16-23,80-87 | 1 | hsn1 NODE | 300.0",
               "0000:ce:00.0 | 24-31,88-95 | 1 | hsn1 PHB | 210.0",
               "0000:d1:00.0 | 0-7,64-71 | 0 | hsn2 NODE | 300.0",
               "0000:d6:00.0 | 8-15,72-79 | 0 | hsn2 PHB | 210.0",
               "0000:d9:00.0 | 32-39,96-103 | 2 | hsn3 NODE | 300.0",
               "0000:de:00.0 | 40-47,104-111 | 2 | hsn3 PHB | 210.0"},
              2040);
}

// Everything of an APU is one NUMA node; its card is at the same host bridge (200).
TEST(HandMadePlan, Mi300aOneRankEach) {
  expect_plan(test::mi300a(),
              {"0000:02:00.0 | 0-23,96-119 | 0 | hsi0 PHB | 200.0",
               "0001:02:00.0 | 24-47,120-143 | 1 | hsi1 PHB | 200.0",
               "0002:02:00.0 | 48-71,144-167 | 2 | hsi2 PHB | 200.0",
               "0003:02:00.0 | 72-95,168-191 | 3 | hsi3 PHB | 200.0"},
              800);
}

// Two ranks per APU: 24 cores in two. A cut at an L3 group of 8 would leave 8, less than three
// quarters of 12, so it stays even. The second on a card pays 10.
TEST(HandMadePlan, Mi300aTwoRanksEach) {
  expect_plan(test::mi300a(),
              {"0000:02:00.0 | 0-11,96-107 | 0 | hsi0 PHB | 200.0 oversubscribed-device",
               "0000:02:00.0 | 12-23,108-119 | 0 | hsi0 PHB | 210.0 oversubscribed-device",
               "0001:02:00.0 | 24-35,120-131 | 1 | hsi1 PHB | 200.0 oversubscribed-device",
               "0001:02:00.0 | 36-47,132-143 | 1 | hsi1 PHB | 210.0 oversubscribed-device",
               "0002:02:00.0 | 48-59,144-155 | 2 | hsi2 PHB | 200.0 oversubscribed-device",
               "0002:02:00.0 | 60-71,156-167 | 2 | hsi2 PHB | 210.0 oversubscribed-device",
               "0003:02:00.0 | 72-83,168-179 | 3 | hsi3 PHB | 200.0 oversubscribed-device",
               "0003:02:00.0 | 84-95,180-191 | 3 | hsi3 PHB | 210.0 oversubscribed-device"},
              1640);
}

// 22 cores for two ranks: the even cut at 11 moves to the L3 group's edge at 10, and 10 and 12 are
// fair. Core c has PUs 4c to 4c + 3. Memory is node 0 or 8, never the GPUs' 252 to 255. The cards
// are in other PCI domains (NODE: 300) and taken in step.
TEST(HandMadePlan, Power9) {
  expect_plan(test::power9(),
              {"0004:04:00.0 | 0-39 | 0 | mlx5_0 NODE | 300.0",
               "0004:05:00.0 | 40-87 | 0 | mlx5_1 NODE | 300.0",
               "0035:03:00.0 | 88-127 | 8 | mlx5_2 NODE | 300.0",
               "0035:04:00.0 | 128-175 | 8 | mlx5_3 NODE | 300.0"},
              1200);
}

// In bus order the pairs are on NUMA nodes 1 0 3 2; 24 cores in two are 12, which is on an edge of
// the L3 groups of 4. Of the two cards below each switch every rank has one, in step.
TEST(HandMadePlan, NdV4) {
  expect_plan(test::ndv4(),
              {"0001:00:00.0 | 24-35 | 1 | mlx5_ib0 PIX | 0.0",
               "0002:00:00.0 | 36-47 | 1 | mlx5_ib1 PIX | 0.0",
               "0003:00:00.0 | 0-11 | 0 | mlx5_ib2 PIX | 0.0",
               "0004:00:00.0 | 12-23 | 0 | mlx5_ib3 PIX | 0.0",
               "000b:00:00.0 | 72-83 | 3 | mlx5_ib4 PIX | 0.0",
               "000c:00:00.0 | 84-95 | 3 | mlx5_ib5 PIX | 0.0",
               "000d:00:00.0 | 48-59 | 2 | mlx5_ib6 PIX | 0.0",
               "000e:00:00.0 | 60-71 | 2 | mlx5_ib7 PIX | 0.0"},
              0);
}

// Four cards below each GPU's switch, one rank: it has all four.
TEST(HandMadePlan, P5) {
  expect_plan(test::p5(),
              {"0000:53:00.0 | 0-11 | 0 | rdmap79s0 rdmap80s0 rdmap81s0 rdmap82s0 PIX | 0.0",
               "0000:64:00.0 | 12-23 | 0 | rdmap96s0 rdmap97s0 rdmap98s0 rdmap99s0 PIX | 0.0",
               "0000:75:00.0 | 24-35 | 0 | rdmap113s0 rdmap114s0 rdmap115s0 rdmap116s0 PIX | 0.0",
               "0000:86:00.0 | 36-47 | 0 | rdmap130s0 rdmap131s0 rdmap132s0 rdmap133s0 PIX | 0.0",
               "0000:97:00.0 | 48-59 | 1 | rdmap147s0 rdmap148s0 rdmap149s0 rdmap150s0 PIX | 0.0",
               "0000:a8:00.0 | 60-71 | 1 | rdmap164s0 rdmap165s0 rdmap166s0 rdmap167s0 PIX | 0.0",
               "0000:b9:00.0 | 72-83 | 1 | rdmap181s0 rdmap182s0 rdmap183s0 rdmap184s0 PIX | 0.0",
               "0000:ca:00.0 | 84-95 | 1 | rdmap198s0 rdmap199s0 rdmap200s0 rdmap201s0 PIX | 0.0"},
              0);
}

// Half as many ranks as GPUs: the first GPU, then the first of the other package, then all others
// are equally far from one of these, so the NUMA nodes take turns. 48 cores in two.
TEST(HandMadePlan, P5HalfFull) {
  expect_plan(test::p5(),
              {"0000:53:00.0 | 0-23 | 0 | rdmap79s0 rdmap80s0 rdmap81s0 rdmap82s0 PIX | 0.0",
               "0000:64:00.0 | 24-47 | 0 | rdmap96s0 rdmap97s0 rdmap98s0 rdmap99s0 PIX | 0.0",
               "0000:97:00.0 | 48-71 | 1 | rdmap147s0 rdmap148s0 rdmap149s0 rdmap150s0 PIX | 0.0",
               "0000:a8:00.0 | 72-95 | 1 | rdmap164s0 rdmap165s0 rdmap166s0 rdmap167s0 PIX | 0.0"},
              0);
}

// 72 cores in two, one L3 group. Two cards below each switch; the other eight are farther.
TEST(HandMadePlan, Gb200) {
  expect_plan(test::gb200(),
              {"0000:29:00.0 | 0-35 | 0 | rdmap39s0 rdmap40s0 PIX | 0.0",
               "0000:3f:00.0 | 36-71 | 0 | rdmap61s0 rdmap62s0 PIX | 0.0",
               "0000:9c:00.0 | 72-107 | 1 | rdmap154s0 rdmap155s0 PIX | 0.0",
               "0000:b2:00.0 | 108-143 | 1 | rdmap176s0 rdmap177s0 PIX | 0.0"},
              0);
}

// Every GPU has the 14 cores of its NUMA node. The first has both ports of its card. The third has
// none: mlx5_3 on node 5 of the same package is nearest (SOCK: 400, and 20 * 0.2 hops from node 7
// to 5), which the fourth then is the second to use (10).
TEST(HandMadePlan, Ipa20) {
  expect_plan(test::ipa20(),
              {"0000:4e:00.0 | 42-55,154-167 | 3 | mlx5_0 mlx5_1 PIX | 0.0",
               "0000:5f:00.0 | 14-27,126-139 | 1 | mlx5_2 PIX | 0.0",
               "0000:cb:00.0 | 98-111,210-223 | 7 | mlx5_3 SOCK | 404.0 no-near-nic",
               "0000:db:00.0 | 70-83,182-195 | 5 | mlx5_3 PIX | 10.0"},
              414);
}

// Filled up: nodes 0 and 2 are as near to node 1 as to 3, so each of these gets half of either,
// node 1 the first half; in the other package likewise for 5 and 7. Half of the cores of a rank are
// then 0.2 hops away: 40 * 0.1. The card of the third rank is as near to its node 4 or 6 as to 7.
TEST(HandMadePlan, Ipa20FilledUp) {
  model::Policy policy;
  policy.fill = true;
  expect_plan(test::ipa20(),
              {"0000:4e:00.0 | 7-13,35-55,119-125,147-167 | 0 2 3 | mlx5_0 mlx5_1 PIX | 4.0 filled",
               "0000:5f:00.0 | 0-6,14-34,112-118,126-146 | 0 1 2 | mlx5_2 PIX | 4.0 filled",
               "0000:cb:00.0 | 63-69,91-111,175-181,203-223 | 4 6 7 | mlx5_3 SOCK | 408.0 filled "
               "no-near-nic",
               "0000:db:00.0 | 56-62,70-90,168-174,182-202 | 4 5 6 | mlx5_3 PIX | 14.0 filled"},
              430, policy);
}

// One card for all, on node 3: in the same package for the first two (400 + 20 * 0.6), in the other
// for the rest (500 + 20 * 2.2); each further rank on it pays 10 more.
TEST(HandMadePlan, Corona) {
  expect_plan(test::corona(),
              {"0000:13:00.0 | 6-11,54-59 | 1 | mlx5_0 SOCK | 412.0 no-near-nic",
               "0000:23:00.0 | 12-17,60-65 | 2 | mlx5_0 SOCK | 422.0 no-near-nic",
               "0000:53:00.0 | 30-35,78-83 | 5 | mlx5_0 SYS | 564.0 no-near-nic",
               "0000:73:00.0 | 42-47,90-95 | 7 | mlx5_0 SYS | 574.0 no-near-nic"},
              1972);
}

// Shares are fair inside a NUMA node: 16 cores alone, 8 for each of two. The card on node 4 is in
// the other package for the first four (500 + 20 * 2), in the same for the others (400 + 20 * 1).
TEST(HandMadePlan, RomeUneven) {
  expect_plan(test::rome_uneven(),
              {"0000:03:00.0 | 48-63 | 3 | mlx5_0 SYS | 540.0 no-near-nic",
               "0000:23:00.0 | 32-39 | 2 | mlx5_0 SYS | 550.0 no-near-nic",
               "0000:26:00.0 | 40-47 | 2 | mlx5_0 SYS | 560.0 no-near-nic",
               "0000:43:00.0 | 16-31 | 1 | mlx5_0 SYS | 570.0 no-near-nic",
               "0000:83:00.0 | 112-127 | 7 | mlx5_0 SOCK | 460.0 no-near-nic",
               "0000:a3:00.0 | 96-111 | 6 | mlx5_0 SOCK | 470.0 no-near-nic",
               "0000:c3:00.0 | 80-87 | 5 | mlx5_0 SOCK | 480.0 no-near-nic",
               "0000:c6:00.0 | 88-95 | 5 | mlx5_0 SOCK | 490.0 no-near-nic"},
              4120);
}

// No GPU: all 68 cores in four pieces of 17, over NUMA nodes of 18, 18, 16, 16; fast memory is not
// allocated from. The card is on node 0, which the second rank still has a core of; for the others
// it is one hop away (20). Each further rank pays 10.
TEST(HandMadePlan, KnlFlat) {
  expect_plan(test::knl_flat(),
              {"- | 0-16,68-84,136-152,204-220 | 0 | mlx5_0 NODE | 0.0",
               "- | 17-33,85-101,153-169,221-237 | 0 1 | mlx5_0 NODE | 10.0",
               "- | 34-50,102-118,170-186,238-254 | 1 2 | mlx5_0 SOCK | 40.0 no-near-nic",
               "- | 51-67,119-135,187-203,255-271 | 2 3 | mlx5_0 SOCK | 50.0 no-near-nic"},
              100);
}

// One rank has everything, and the wireless interface, which costs nothing.
TEST(HandMadePlan, Laptop) {
  expect_plan(test::laptop(), {"0000:01:00.0 | 0-19 | 0 | wlp0s20f3 PHB | 0.0"}, 0);
}

// Three ranks: 2 fast cores each; of 8 slow ones 2 each, and the first two one more.
TEST(HandMadePlan, LaptopOfThree) {
  expect_plan(test::laptop(),
              {"0000:01:00.0 | 0-3,12-14 | 0 | wlp0s20f3 PHB | 0.0 oversubscribed-device",
               "0000:01:00.0 | 4-7,15-17 | 0 | wlp0s20f3 PHB | 0.0 oversubscribed-device",
               "0000:01:00.0 | 8-11,18-19 | 0 | wlp0s20f3 PHB | 0.0 oversubscribed-device"},
              0);
}

}  // namespace
}  // namespace berth
