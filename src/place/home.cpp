// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <place/home.hpp>

namespace berth::place {
namespace {

// NUMA nodes with processors, those over the same processors (DRAM and HBM) counted once.
std::size_t domains(model::Node const& node) {
  std::vector<model::PuSet const*> seen;
  for (auto const& numa : node.numa_nodes) {
    bool const fresh = std::none_of(seen.begin(), seen.end(),
                                    [&](auto const* other) { return *other == numa.pus; });
    if (!numa.pus.empty() && fresh) seen.push_back(&numa.pus);
  }
  return seen.size();
}

model::PuSet package_pus(model::Node const& node, int package) {
  model::PuSet pus;
  for (auto const& core : node.cores) {
    if (core.package == package) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
  }
  std::sort(pus.begin(), pus.end());
  return pus;
}

// The NUMA node that the processors of a device's side belong to; nullptr: not known.
model::NumaNode const* numa_of(model::Node const& node, model::Device const& device) {
  bool const known =
      device.numa >= 0 && static_cast<std::size_t>(device.numa) < node.numa_nodes.size();
  if (!known) return nullptr;
  model::NumaNode const& numa = node.numa_nodes[static_cast<std::size_t>(device.numa)];
  return numa.subtype == "GPUMemory" ? nullptr : &numa;
}

}  // namespace

Home home_of(CoreMap const& cores, model::Device const& device, model::PuSet const& allowed) {
  model::Node const& node = cores.node();
  model::NumaNode const* const numa = numa_of(node, device);
  bool const one_domain = domains(node) <= 1;
  // "Beside the whole machine" is how hwloc says that nobody knows.
  bool const says_something = one_domain || !is_within(cores.all(), device.local_pus);
  if (says_something) {
    model::PuSet pus = intersection(device.local_pus, allowed);
    if (!pus.empty()) return {true, std::move(pus)};
  }
  // A node that a restriction has emptied is known all the same: nothing beside it is left.
  if (numa != nullptr) return {true, intersection(numa->pus, allowed)};
  if (one_domain) return {true, allowed};
  if (device.package >= 0 && node.packages > 1) {
    return {true, intersection(package_pus(node, device.package), allowed)};
  }
  bool const known = says_something && !device.local_pus.empty();
  return known ? Home{true, {}} : Home{false, allowed};
}

std::vector<Home> homes_of(CoreMap const& cores, model::PuSet const& allowed) {
  std::vector<Home> homes;
  homes.reserve(cores.node().devices.size());
  for (auto const& device : cores.node().devices) homes.push_back(home_of(cores, device, allowed));
  return homes;
}

model::PuSet neighbourhood(model::Node const& node, model::Device const& device) {
  model::NumaNode const* const numa = numa_of(node, device);
  if (numa != nullptr && !numa->pus.empty()) return numa->pus;
  if (!device.local_pus.empty()) return device.local_pus;
  bool const by_package = device.package >= 0 && node.packages > 1;
  return by_package ? package_pus(node, device.package) : model::PuSet{};
}

}  // namespace berth::place
