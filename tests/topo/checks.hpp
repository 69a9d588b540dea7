// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <model/node.hpp>

namespace berth::test {

/// What planning may rely on, whatever a node was read from.
inline void check_node(model::Node const& node) {
  auto const numas = static_cast<int>(node.numa_nodes.size());
  std::set<int> pus;
  EXPECT_GE(node.packages, 1);
  EXPECT_FALSE(node.cores.empty());
  for (auto const& core : node.cores) {
    EXPECT_FALSE(core.pus.empty());
    for (int const pu : core.pus) EXPECT_TRUE(pus.insert(pu).second) << "PU twice: " << pu;
    EXPECT_LT(core.numa, numas);
    EXPECT_LT(core.package, node.packages);
    EXPECT_GE(core.kind, 0);
  }
  auto const within = [&](model::PuSet const& set) {
    return std::is_sorted(set.begin(), set.end()) &&
           std::all_of(set.begin(), set.end(), [&](int pu) { return pus.count(pu) == 1; });
  };
  EXPECT_FALSE(node.allowed.empty());
  EXPECT_TRUE(within(node.allowed));
  for (auto const& numa : node.numa_nodes) {
    EXPECT_TRUE(within(numa.pus));
    EXPECT_LT(numa.package, node.packages);
  }
  for (auto const& device : node.devices) {
    EXPECT_TRUE(within(device.local_pus));
    EXPECT_LT(device.numa, numas);
    EXPECT_LT(device.package, node.packages);
  }
  std::set<std::pair<std::string, int>> devices;
  for (auto const& device : node.devices) {
    EXPECT_TRUE(devices.emplace(device.bus_id, device.partition).second) << device.bus_id;
  }
  for (auto const& nic : node.nics) EXPECT_LT(nic.numa, numas);
  for (auto const& nic : node.unused_nics) EXPECT_FALSE(nic.reason.empty()) << nic.name;
  if (!node.numa_distance.empty()) {
    EXPECT_EQ(node.numa_distance.size(), node.numa_nodes.size());
  }
}

}  // namespace berth::test
