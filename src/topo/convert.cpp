// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <base/error.hpp>
#include <topo/convert.hpp>
#include <topo/cores.hpp>
#include <topo/devices.hpp>
#include <topo/memory.hpp>
#include <topo/nics.hpp>

namespace berth::topo {
namespace {

model::PuSet common(model::PuSet const& a, model::PuSet const& b) {
  model::PuSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// Damaged files allow and place processors that are not there.
void keep_existing_pus(model::Node& node) {
  model::PuSet all;
  for (model::Core const& core : node.cores) {
    all.insert(all.end(), core.pus.begin(), core.pus.end());
  }
  std::sort(all.begin(), all.end());
  for (model::NumaNode& numa : node.numa_nodes) numa.pus = common(numa.pus, all);
  for (model::Device& device : node.devices) device.local_pus = common(device.local_pus, all);
  node.allowed = common(node.allowed, all);
  if (node.allowed.empty()) base::fail(Errc::bad_input, "it allows none of its processors");
}

}  // namespace

model::Node convert(Topology const& topology, std::optional<LiveSource> const& source) {
  hwloc_topology_t const raw = topology.get();
  std::optional<std::string> root;
  if (source) root = source->root;
  model::Node node;
  node.host = info(hwloc_get_root_obj(raw), "HostName");
  node.packages = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PACKAGE));
  node.allowed = to_pus(hwloc_topology_get_allowed_cpuset(raw));
  read_memory(raw, node);
  read_cores(raw, node);
  complete_packages(node);
  read_devices(raw, root, node);
  keep_existing_pus(node);
  name_special_memory(raw, node);
  choose_nics(source ? live_nics(raw, source->root, source->reach, node) : recorded_nics(raw, node),
              node);
  return node;
}

}  // namespace berth::topo
