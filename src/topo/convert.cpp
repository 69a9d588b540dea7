// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <base/error.hpp>
#include <base/text.hpp>
#include <topo/convert.hpp>
#include <topo/io.hpp>

namespace berth::topo {
namespace {

bool contains(model::PuSet const& set, model::PuSet const& part) {
  return std::includes(set.begin(), set.end(), part.begin(), part.end());
}

int package_of(hwloc_topology_t topology, model::Node const& node, hwloc_obj_t object) {
  int const index = ancestor_index(topology, HWLOC_OBJ_PACKAGE, object);
  // A machine that names no packages is one.
  return index < 0 && node.packages == 1 ? 0 : index;
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
  std::vector<std::vector<double>> hops(nodes, std::vector<double>(nodes, 0.0));
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

// The node to allocate from for a core that no node with memory contains: the same package's,
// otherwise the first.
int nearest_with_memory(model::Node const& node, int package) {
  int first = -1;
  for (std::size_t i = 0; i < node.numa_nodes.size(); ++i) {
    model::NumaNode const& numa = node.numa_nodes[i];
    if (numa.memory_bytes == 0 || !is_main_memory(numa) || numa.pus.empty()) continue;
    if (numa.package == package && package >= 0) return static_cast<int>(i);
    if (first < 0) first = static_cast<int>(i);
  }
  return first;
}

int numa_of_core(model::Node const& node, model::Core const& core) {
  int const containing = numa_of(node, core.pus);
  bool const has_memory =
      containing >= 0 && node.numa_nodes[static_cast<std::size_t>(containing)].memory_bytes > 0;
  if (has_memory) return containing;
  int const other = nearest_with_memory(node, core.package);
  return other >= 0 ? other : containing;
}

model::Core make_core(hwloc_topology_t topology, model::Node const& node, hwloc_obj_t object) {
  model::Core core;
  core.pus = to_pus(object->cpuset);
  core.package = package_of(topology, node, object);
  core.l3 = ancestor_index(topology, HWLOC_OBJ_L3CACHE, object);
  core.numa = numa_of_core(node, core);
  return core;
}

void read_cores(hwloc_topology_t topology, model::Node& node) {
  // Walking the PUs finds those, too, that belong to no core (some virtual machines).
  hwloc_obj_t object = nullptr;
  hwloc_obj_t last_core = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, object)) != nullptr) {
    hwloc_obj_t const core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, object);
    if (core != nullptr && core == last_core) continue;
    last_core = core;
    model::Core made = make_core(topology, node, core != nullptr ? core : object);
    if (!made.pus.empty()) node.cores.push_back(std::move(made));
  }
}

// Where nodes hang above packages (some old files), their cores still tell the package.
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

}  // namespace

bool is_main_memory(model::NumaNode const& numa) {
  return numa.subtype != "GPUMemory" && numa.subtype != "MCDRAM" && numa.subtype != "HBM";
}

int numa_of(model::Node const& node, model::PuSet const& pus) {
  int best = -1;
  auto const better = [&](model::NumaNode const& a, model::NumaNode const& b) {
    if (is_main_memory(a) != is_main_memory(b)) return is_main_memory(a);
    if (a.pus.size() != b.pus.size()) return a.pus.size() < b.pus.size();
    return a.memory_bytes > b.memory_bytes;
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

model::Node convert(Topology const& topology, std::optional<std::string> const& sysfs_root) {
  hwloc_topology_t const raw = topology.get();
  model::Node node;
  node.host = info(hwloc_get_root_obj(raw), "HostName");
  node.packages = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PACKAGE));
  node.allowed = to_pus(hwloc_topology_get_allowed_cpuset(raw));
  read_numa_nodes(raw, node);
  read_distances(raw, node);
  read_cores(raw, node);
  if (node.cores.empty()) base::fail(Errc::bad_input, "it has no processors");
  complete_packages(node);
  read_devices(raw, sysfs_root, node);
  read_nics(raw, sysfs_root, node);
  return node;
}

}  // namespace berth::topo
