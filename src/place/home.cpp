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

model::PuSet numa_pus(model::Node const& node, model::Device const& device) {
  bool const known =
      device.numa >= 0 && static_cast<std::size_t>(device.numa) < node.numa_nodes.size();
  return known ? node.numa_nodes[static_cast<std::size_t>(device.numa)].pus : model::PuSet{};
}

Home home_of(CoreMap const& cores, model::Device const& device, model::PuSet const& allowed) {
  model::Node const& node = cores.node();
  bool const one_domain = domains(node) <= 1;
  if (one_domain && device.local_pus.empty()) return {true, allowed};
  // "Beside the whole machine" is how hwloc says that nobody knows.
  bool const local_means_something = one_domain || !is_within(cores.all(), device.local_pus);
  bool known = false;
  auto const try_pus = [&](model::PuSet const& pus) {
    known = known || !pus.empty();
    return intersection(pus, allowed);
  };
  if (local_means_something) {
    if (auto pus = try_pus(device.local_pus); !pus.empty()) return {true, std::move(pus)};
  }
  model::PuSet const numa = numa_pus(node, device);
  if (auto pus = try_pus(numa); !pus.empty()) return {true, std::move(pus)};
  if (numa.empty() && device.package >= 0 && node.packages > 1) {
    if (auto pus = try_pus(package_pus(node, device.package)); !pus.empty()) {
      return {true, std::move(pus)};
    }
  }
  return known ? Home{true, {}} : Home{false, allowed};
}

}  // namespace

std::vector<Home> homes_of(CoreMap const& cores, model::PuSet const& allowed) {
  std::vector<Home> homes;
  homes.reserve(cores.node().devices.size());
  for (auto const& device : cores.node().devices) homes.push_back(home_of(cores, device, allowed));
  return homes;
}

model::PuSet neighbourhood(model::Node const& node, model::Device const& device) {
  model::PuSet pus = numa_pus(node, device);
  if (pus.empty()) pus = device.local_pus;
  if (pus.empty() && device.package >= 0 && node.packages > 1) {
    pus = package_pus(node, device.package);
  }
  return pus;
}

}  // namespace berth::place
