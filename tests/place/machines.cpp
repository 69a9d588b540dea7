// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "machines.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace berth::test {

model::Node machine(Shape const& shape) {
  model::Node node;
  node.host = "made";
  node.packages = shape.packages;
  int const numas = shape.packages * shape.numa_per_package;
  int const cores = numas * shape.cores_per_numa;
  for (int numa = 0; numa < numas; ++numa) {
    model::NumaNode memory;
    memory.os_index = numa;
    memory.package = numa / shape.numa_per_package;
    memory.memory_bytes = 64UL << 30;
    for (int i = 0; i < shape.cores_per_numa; ++i) {
      model::Core core;
      int const index = numa * shape.cores_per_numa + i;
      core.package = memory.package;
      core.numa = numa;
      for (int thread = 0; thread < shape.threads; ++thread) {
        core.pus.push_back(index + thread * cores);
      }
      memory.pus.insert(memory.pus.end(), core.pus.begin(), core.pus.end());
      node.allowed.insert(node.allowed.end(), core.pus.begin(), core.pus.end());
      node.cores.push_back(core);
    }
    std::sort(memory.pus.begin(), memory.pus.end());
    node.numa_nodes.push_back(memory);
  }
  std::sort(node.allowed.begin(), node.allowed.end());
  return node;
}

void add_gpu(model::Node& node, std::string const& bus_id, int numa,
             std::vector<std::string> const& bridges) {
  model::Device device;
  device.bus_id = bus_id;
  device.vendor = "10de";
  device.numa = numa;
  device.bridges = bridges;
  if (numa >= 0) {
    device.package = node.numa_nodes.at(static_cast<std::size_t>(numa)).package;
    device.local_pus = node.numa_nodes.at(static_cast<std::size_t>(numa)).pus;
  }
  node.devices.push_back(device);
}

void add_nic(model::Node& node, std::string const& name, int numa,
             std::vector<std::string> const& bridges, double gbps) {
  model::Nic nic;
  nic.name = name;
  nic.numa = numa;
  if (numa >= 0) nic.package = node.numa_nodes.at(static_cast<std::size_t>(numa)).package;
  nic.gbps = gbps;
  nic.fabric = true;
  nic.bridges = bridges;
  node.nics.push_back(nic);
}

model::Node dgx() {
  model::Node node = machine({2, 1, 56, 2});
  for (int i = 0; i < 8; ++i) {
    std::string const above = fmt::format("0000:{:02x}:00.0", 16 * (i + 1));
    std::string const host = fmt::format("host0000:{:02x}", 16 * (i + 1));
    add_gpu(node, fmt::format("0000:{:02x}:00.0", 16 * (i + 1) + 3), i / 4,
            {fmt::format("0000:{:02x}:00.0", 16 * (i + 1) + 1), above, host});
    add_nic(node, fmt::format("mlx5_{}", i), i / 4,
            {fmt::format("0000:{:02x}:01.0", 16 * (i + 1) + 1), above, host});
  }
  return node;
}

std::vector<model::LocalRank> ranks(model::Node const& node, int count) {
  std::vector<model::LocalRank> made;
  made.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made.push_back({i, node.allowed});
  return made;
}

std::vector<model::LocalRank> ranks_bound_to_packages(model::Node const& node, int count) {
  std::vector<model::LocalRank> made = ranks(node, count);
  for (int i = 0; i < count; ++i) {
    model::LocalRank& rank = made[static_cast<std::size_t>(i)];
    rank.binding_asked = true;
    rank.affinity.clear();
    for (auto const& core : node.cores) {
      if (core.package != i * node.packages / count) continue;
      rank.affinity.insert(rank.affinity.end(), core.pus.begin(), core.pus.end());
    }
    std::sort(rank.affinity.begin(), rank.affinity.end());
  }
  return made;
}

std::vector<model::Policy> policies() {
  std::vector<model::Policy> all;
  for (int i = 0; i < 24; ++i) {
    all.push_back({i % 2 == 0, i / 2 % 2 == 0, i / 4 % 2 == 1, static_cast<model::Binding>(i / 8)});
  }
  return all;
}

std::string words(model::Policy const& policy) {
  char const* const bindings[] = {"automatic", "respect", "rebind"};
  return fmt::format("smt {}, devices {}, fill {}, {}", policy.smt, policy.use_devices, policy.fill,
                     bindings[static_cast<int>(policy.binding)]);
}

}  // namespace berth::test
