// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include <base/error.hpp>
#include <topo/file.hpp>
#include <topo/memory.hpp>
#include <topo/nccl.hpp>
#include <topo/topo.hpp>

namespace berth::topo {
namespace {

void add_cpu(NcclCpu const& cpu, int index, std::set<int>& seen, model::Node& node) {
  model::NumaNode numa;
  numa.os_index = cpu.numa < 0 ? 0 : cpu.numa;
  if (numa_by_os_index(node, numa.os_index) >= 0) {
    base::fail(Errc::bad_input, fmt::format("two cpu elements have numaid {}", cpu.numa));
  }
  numa.package = index;
  numa.memory_bytes = cpu.pus.empty() ? 0 : 1;
  numa.pus = cpu.pus;
  node.numa_nodes.push_back(std::move(numa));
  for (int const pu : cpu.pus) {
    if (!seen.insert(pu).second) {
      base::fail(Errc::bad_input, fmt::format("two cpu elements claim PU {}", pu));
    }
    model::Core core;
    core.package = index;
    core.numa = index;
    core.pus = {pu};
    node.cores.push_back(std::move(core));
  }
}

void add_gpus(NcclSystem const& system, model::Node& node) {
  std::vector<NcclGpu> gpus = system.gpus;
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](auto const& a, auto const& b) { return a.id < b.id; });
  for (NcclGpu const& gpu : gpus) {
    model::Device device;
    device.bus_id = format_bus_id(gpu.id);
    device.vendor = gpu.vendor;
    device.numa = device.package = gpu.cpu;
    device.bridges = gpu.bridges;
    device.local_pus = system.cpus[static_cast<std::size_t>(gpu.cpu)].pus;
    if (!node.devices.empty() && node.devices.back().bus_id == device.bus_id) {
      device.partition = node.devices.back().partition + 1;
    }
    for (int i = 0; i < gpu.partitions; ++i, ++device.partition) node.devices.push_back(device);
  }
}

/// What a file knows of a bus id.
struct Known {
  int cpu = -1;
  std::vector<std::string> const* bridges = nullptr;
};

// The NUMA node of ours that a CPU element means; -1: none.
int numa_of_cpu(NcclCpu const& cpu, model::Node const& node) {
  int const by_index = cpu.numa >= 0 ? numa_by_os_index(node, cpu.numa) : -1;
  if (by_index >= 0 && !node.numa_nodes[static_cast<std::size_t>(by_index)].pus.empty()) {
    return by_index;
  }
  return numa_of(node, cpu.pus);
}

template <class Item>
bool place_item(Item& item, std::map<std::string, Known> const& known, NcclSystem const& system,
                model::Node const& node) {
  if (item.numa >= 0) return false;
  auto const found = known.find(item.bus_id);
  if (found == known.end()) return false;
  item.numa = numa_of_cpu(system.cpus[static_cast<std::size_t>(found->second.cpu)], node);
  // Bridges are compared between items, so they come from the file as a whole.
  if (!found->second.bridges->empty()) item.bridges = *found->second.bridges;
  if (item.numa < 0) return false;
  if (item.package < 0) item.package = node.numa_nodes[static_cast<std::size_t>(item.numa)].package;
  return true;
}

}  // namespace

model::Node node_from_nccl(NcclSystem const& system) {
  model::Node node;
  node.packages = static_cast<int>(system.cpus.size());
  std::set<int> seen;
  for (std::size_t i = 0; i < system.cpus.size(); ++i) {
    add_cpu(system.cpus[i], static_cast<int>(i), seen, node);
  }
  if (seen.empty()) base::fail(Errc::bad_input, "none of its cpu elements has an affinity");
  node.allowed.assign(seen.begin(), seen.end());
  add_gpus(system, node);
  for (NcclNic const& one : system.nics) {
    model::Nic nic;
    nic.name = one.name.empty() ? one.bus_id : one.name;
    nic.bus_id = one.bus_id;
    nic.numa = nic.package = one.cpu;
    nic.gbps = one.gbps;
    nic.fabric = one.fabric;
    nic.bridges = one.bridges;
    node.nics.push_back(std::move(nic));
  }
  std::stable_sort(node.nics.begin(), node.nics.end(),
                   [](auto const& a, auto const& b) { return a.name < b.name; });
  return node;
}

void complete(model::Node& node, NcclSystem const& system) {
  std::map<std::string, Known> known;
  for (NcclGpu const& gpu : system.gpus) known[format_bus_id(gpu.id)] = {gpu.cpu, &gpu.bridges};
  for (NcclNic const& nic : system.nics) {
    if (!nic.bus_id.empty()) known[nic.bus_id] = {nic.cpu, &nic.bridges};
  }
  for (model::Device& device : node.devices) {
    if (!place_item(device, known, system, node)) continue;
    if (device.local_pus.empty()) {
      device.local_pus = node.numa_nodes[static_cast<std::size_t>(device.numa)].pus;
    }
  }
  for (model::Nic& nic : node.nics) place_item(nic, known, system, node);
}

void complete_from_nccl(model::Node& node, std::string const& path) {
  constexpr std::size_t most_bytes = 1UL << 20;
  std::string const text = load_file(path, most_bytes);
  if (check_text(path, text) != FileKind::nccl) fail_file(path, "it is no NCCL topology");
  NcclSystem system;
  try {
    system = parse_nccl(text);
  } catch (Error const& error) {
    fail_file(path, error.what());
  }
  complete(node, system);
}

}  // namespace berth::topo
