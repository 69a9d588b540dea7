// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <topo/bus_id.hpp>
#include <topo/topology.hpp>

/// Where PCI functions hang. Private to the room.
namespace berth::topo {

/// Where a PCI function hangs; -1 and no PUs: not known.
struct Locality {
  int numa = -1;
  int package = -1;
  model::PuSet pus;
  std::vector<std::string> bridges;  ///< as model::Device::bridges
};

BusId bus_id_of(hwloc_obj_attr_u::hwloc_pcidev_attr_s const& pci);
/// From hwloc; where it hangs off the whole machine, from sysfs under `root`. Needs
/// node.numa_nodes.
Locality locality_of(hwloc_topology_t topology, hwloc_obj_t pci, model::Node const& node,
                     std::optional<std::string> const& root);
/// Of a function hwloc does not know, from the numa_node and the path of its folder `device` in
/// sysfs, which may be a link.
Locality locality_of_folder(std::string const& device, model::Node const& node);
/// The last PCI function of a resolved sysfs path; absent: none on it.
std::optional<BusId> bus_id_on_path(std::vector<std::string> const& path);

}  // namespace berth::topo
