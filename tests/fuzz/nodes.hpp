// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <set>

#include <fuzz/fuzz.hpp>

#include <model/node.hpp>

namespace berth::test {

/// Requires what planning relies on.
inline void require_node(model::Node const& node) {
  auto const numas = static_cast<int>(node.numa_nodes.size());
  std::set<int> pus;
  require(node.packages >= 1 && !node.cores.empty(), "there are packages and cores");
  for (auto const& core : node.cores) {
    require(!core.pus.empty() && core.numa < numas && core.package < node.packages, "a core");
    for (int const pu : core.pus) require(pus.insert(pu).second, "a PU belongs to one core");
  }
  auto const within = [&](model::PuSet const& set) {
    return std::is_sorted(set.begin(), set.end()) &&
           std::all_of(set.begin(), set.end(), [&](int pu) { return pus.count(pu) == 1; });
  };
  require(!node.allowed.empty() && within(node.allowed), "allowed PUs exist");
  for (auto const& numa : node.numa_nodes) {
    require(within(numa.pus) && numa.package < node.packages, "a NUMA node");
  }
  std::set<std::pair<std::string, int>> devices;
  for (auto const& device : node.devices) {
    require(within(device.local_pus) && device.numa < numas, "a device");
    require(devices.emplace(device.bus_id, device.partition).second, "devices differ");
  }
  for (auto const& nic : node.nics) require(nic.numa < numas, "a card");
}

}  // namespace berth::test
