// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <base/units.hpp>
#include <sys/host.hpp>
#include <sys/sysfs.hpp>
#include <topo/locality.hpp>
#include <topo/memory.hpp>

namespace berth::topo {
namespace {

// The nodeset says it even where a restriction has taken the processors away.
int numa_of_object(hwloc_obj_t object, model::Node const& node) {
  if (object->nodeset != nullptr && hwloc_bitmap_weight(object->nodeset) == 1) {
    int const numa = numa_by_os_index(node, hwloc_bitmap_first(object->nodeset));
    if (numa >= 0) return numa;
  }
  return numa_of(node, to_pus(object->cpuset));
}

int numa_of_file(std::string const& path, model::Node const& node) {
  auto const os_index = base::parse_integer(sys::read_small_file(path, 16), 0, 65535);
  return os_index ? numa_by_os_index(node, *os_index) : -1;
}

void complete(Locality& place, model::Node const& node) {
  if (place.numa < 0 && is_one_domain(node)) {
    for (model::NumaNode const& numa : node.numa_nodes) {
      if (!numa.pus.empty() && place.numa < 0) place.numa = numa_of(node, numa.pus);
    }
  }
  if (place.numa >= 0) {
    model::NumaNode const& numa = node.numa_nodes[static_cast<std::size_t>(place.numa)];
    if (place.package < 0) place.package = numa.package;
    if (place.pus.empty()) place.pus = numa.pus;
  }
  if (place.package < 0 && node.packages == 1) place.package = 0;
}

std::vector<std::string> bridges_above(hwloc_obj_t pci) {
  std::vector<std::string> bridges;
  for (hwloc_obj_t up = pci->parent; up != nullptr && up->type == HWLOC_OBJ_BRIDGE;
       up = up->parent) {
    auto const& bridge = up->attr->bridge;
    if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
      bridges.push_back(format_bus_id(bus_id_of(bridge.upstream.pci)));
    } else {
      bridges.push_back(fmt::format("host{:04x}:{:02x}",
                                    static_cast<unsigned>(bridge.downstream.pci.domain),
                                    static_cast<unsigned>(bridge.downstream.pci.secondary_bus)));
    }
  }
  return bridges;
}

}  // namespace

BusId bus_id_of(hwloc_obj_attr_u::hwloc_pcidev_attr_s const& pci) {
  return {pci.domain, pci.bus, pci.dev, pci.func};
}

Locality locality_of(hwloc_topology_t topology, hwloc_obj_t pci, model::Node const& node,
                     std::optional<std::string> const& root) {
  Locality place;
  hwloc_obj_t const ancestor = hwloc_get_non_io_ancestor_obj(topology, pci);
  if (ancestor != nullptr && ancestor->type != HWLOC_OBJ_MACHINE) {
    place.pus = to_pus(ancestor->cpuset);
    place.numa = numa_of_object(ancestor, node);
    place.package = ancestor->type == HWLOC_OBJ_PACKAGE
                        ? static_cast<int>(ancestor->logical_index)
                        : ancestor_index(topology, HWLOC_OBJ_PACKAGE, ancestor);
  }
  if (place.numa < 0 && root) {
    place.numa = numa_of_file(*root + "/sys/bus/pci/devices/" +
                                  format_bus_id(bus_id_of(pci->attr->pcidev)) + "/numa_node",
                              node);
  }
  place.bridges = bridges_above(pci);
  complete(place, node);
  return place;
}

Locality locality_of_folder(std::string const& device, model::Node const& node) {
  Locality place;
  place.numa = numa_of_file(device + "/numa_node", node);
  std::vector<std::string> const path = sys::resolved(device);
  for (std::string const& part : path) {
    if (parse_bus_id(part)) place.bridges.insert(place.bridges.begin(), part);
  }
  // The function itself is no bridge above it.
  if (!place.bridges.empty()) place.bridges.erase(place.bridges.begin());
  for (std::string const& part : path) {
    if (part.rfind("pci", 0) == 0 && part.size() == 10) {
      place.bridges.push_back("host" + part.substr(3));
      break;
    }
  }
  complete(place, node);
  return place;
}

std::optional<BusId> bus_id_on_path(std::vector<std::string> const& path) {
  auto const last = std::find_if(path.rbegin(), path.rend(),
                                 [](auto const& part) { return parse_bus_id(part).has_value(); });
  return last != path.rend() ? parse_bus_id(*last) : std::nullopt;
}

}  // namespace berth::topo
