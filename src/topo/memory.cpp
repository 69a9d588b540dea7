// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <base/text.hpp>
#include <topo/memory.hpp>

namespace berth::topo {
namespace {

bool contains(model::PuSet const& set, model::PuSet const& part) {
  return std::includes(set.begin(), set.end(), part.begin(), part.end());
}

void read_numa_nodes(hwloc_topology_t topology, model::Node& node) {
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
    model::NumaNode numa;
    numa.os_index = static_cast<int>(object->os_index);
    numa.package = package_of(topology, node, object);
    numa.memory_bytes = object->attr->numanode.local_memory;
    numa.pus = to_pus(object->cpuset);
    numa.subtype = object->subtype != nullptr ? base::printable(object->subtype, 32) : "";
    if (numa.subtype == "DRAM") numa.subtype.clear();
    node.numa_nodes.push_back(std::move(numa));
  }
}

// Latencies as the firmware gives them (10 20 32) become hops: 0 1 2.2.
void read_distances(hwloc_topology_t topology, model::Node& node) {
  hwloc_distances_s* matrix = nullptr;
  unsigned count = 1;
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &matrix,
                                  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
      count == 0) {
    return;
  }
  std::size_t const nodes = node.numa_nodes.size();
  std::size_t const read = matrix->nbobjs;
  double local = 0;
  for (std::size_t i = 0; i < read; ++i) {
    auto const own = static_cast<double>(matrix->values[i * read + i]);
    local = i == 0 ? own : std::min(local, own);
  }
  // A matrix over a part of the nodes, or one whose diagonal means nothing, is of no use.
  bool good = read == nodes && local > 0;
  std::vector<std::vector<double>> hops(good ? nodes : 0, std::vector<double>(nodes, 0.0));
  for (std::size_t i = 0; good && i < read; ++i) {
    for (std::size_t j = 0; good && j < read; ++j) {
      if (matrix->objs[i] == nullptr || matrix->objs[j] == nullptr ||
          matrix->objs[i]->logical_index >= nodes || matrix->objs[j]->logical_index >= nodes) {
        good = false;
        break;
      }
      auto const value = static_cast<double>(matrix->values[i * read + j]);
      hops[matrix->objs[i]->logical_index][matrix->objs[j]->logical_index] =
          std::max(0.0, value / local - 1.0);
    }
  }
  hwloc_distances_release(topology, matrix);
  if (good) node.numa_distance = std::move(hops);
}

// Linux shows the memory of GPUs as nodes on these architectures only.
bool may_show_gpu_memory(hwloc_topology_t topology) {
  std::string const architecture = info(hwloc_get_root_obj(topology), "Architecture");
  return architecture == "ppc64le" || architecture == "aarch64";
}

std::string cpu_model(hwloc_topology_t topology) {
  hwloc_obj_t const package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  return package != nullptr ? info(package, "CPUModel") : std::string();
}

bool overlap(model::PuSet const& a, model::PuSet const& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left == *right) return true;
    *left < *right ? ++left : ++right;
  }
  return false;
}

// A processor belongs to one node of the kernel's. hwloc gives memory without processors those of
// the object it hangs it under: a package's, the machine's.
void name_borrowers(model::Node& node, bool gpu_memory, std::string const& fast) {
  for (model::NumaNode& numa : node.numa_nodes) {
    if (numa.pus.empty() || !numa.subtype.empty()) continue;
    for (model::NumaNode const& owner : node.numa_nodes) {
      // The kernel numbers nodes with processors first.
      if (owner.os_index >= numa.os_index || !overlap(owner.pus, numa.pus)) continue;
      bool const same = owner.pus == numa.pus;
      if (gpu_memory) {
        numa.subtype = "GPUMemory";
      } else if (owner.memory_bytes > 0 || !same) {
        numa.subtype = same && numa.memory_bytes < owner.memory_bytes ? fast : "CXL";
      }
      if (gpu_memory || !same) numa.pus.clear();
      break;
    }
  }
}

}  // namespace

int package_of(hwloc_topology_t topology, model::Node const& node, hwloc_obj_t object) {
  int const index = ancestor_index(topology, HWLOC_OBJ_PACKAGE, object);
  return index < 0 && node.packages == 1 ? 0 : index;
}

void read_memory(hwloc_topology_t topology, model::Node& node) {
  read_numa_nodes(topology, node);
  read_distances(topology, node);
}

void complete_packages(model::Node& node) {
  for (model::NumaNode& numa : node.numa_nodes) {
    if (numa.package >= 0) continue;
    bool first = true;
    for (model::Core const& core : node.cores) {
      if (!contains(numa.pus, core.pus)) continue;
      if (!first && core.package != numa.package) {
        numa.package = -1;
        break;
      }
      numa.package = core.package;
      first = false;
    }
  }
}

void name_special_memory(hwloc_topology_t topology, model::Node& node) {
  int last_with_pus = -1;
  for (model::NumaNode const& numa : node.numa_nodes) {
    if (!numa.pus.empty()) last_with_pus = std::max(last_with_pus, numa.os_index);
  }
  bool const has_nvidia = std::any_of(node.devices.begin(), node.devices.end(),
                                      [](auto const& device) { return device.vendor == "10de"; });
  bool const gpu_memory = has_nvidia && may_show_gpu_memory(topology);
  for (model::NumaNode& numa : node.numa_nodes) {
    // Below the last one with processors it may be a node whose processors were taken away.
    if (!numa.pus.empty() || !numa.subtype.empty() || numa.os_index < last_with_pus) continue;
    if (gpu_memory) numa.subtype = "GPUMemory";
  }
  bool const is_phi = cpu_model(topology).find("Xeon Phi") != std::string::npos;
  name_borrowers(node, gpu_memory, is_phi ? "MCDRAM" : "HBM");
}

bool is_main_memory(model::NumaNode const& numa) {
  return numa.subtype.empty();
}

int numa_of(model::Node const& node, model::PuSet const& pus) {
  int best = -1;
  auto const better = [](model::NumaNode const& a, model::NumaNode const& b) {
    if (is_main_memory(a) != is_main_memory(b)) return is_main_memory(a);
    if (a.pus.size() != b.pus.size()) return a.pus.size() < b.pus.size();
    if ((a.memory_bytes > 0) != (b.memory_bytes > 0)) return a.memory_bytes > 0;
    return a.os_index < b.os_index;
  };
  for (std::size_t i = 0; i < node.numa_nodes.size(); ++i) {
    model::NumaNode const& numa = node.numa_nodes[i];
    if (pus.empty() || numa.pus.empty() || !contains(numa.pus, pus)) continue;
    if (best < 0 || better(numa, node.numa_nodes[static_cast<std::size_t>(best)])) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

int nearest_with_memory(model::Node const& node, int numa, int package) {
  auto const from = static_cast<std::size_t>(numa);
  bool const measured = numa >= 0 && from < node.numa_distance.size();
  int best = -1;
  double best_cost = 0;
  for (std::size_t i = 0; i < node.numa_nodes.size(); ++i) {
    model::NumaNode const& other = node.numa_nodes[i];
    if (other.memory_bytes == 0 || !is_main_memory(other) || other.pus.empty()) continue;
    double cost = other.package == package && package >= 0 ? 0.0 : 1.0;
    if (measured) cost += 1000 * node.numa_distance[from][i];
    if (best >= 0 && cost >= best_cost) continue;
    best = static_cast<int>(i);
    best_cost = cost;
  }
  return best;
}

int numa_by_os_index(model::Node const& node, long long os_index) {
  for (std::size_t i = 0; i < node.numa_nodes.size(); ++i) {
    if (node.numa_nodes[i].os_index == os_index) return static_cast<int>(i);
  }
  return -1;
}

bool is_one_domain(model::Node const& node) {
  model::PuSet const* only = nullptr;
  for (model::NumaNode const& numa : node.numa_nodes) {
    if (numa.pus.empty()) continue;
    if (only != nullptr && numa.pus != *only) return false;
    only = &numa.pus;
  }
  return true;
}

}  // namespace berth::topo
