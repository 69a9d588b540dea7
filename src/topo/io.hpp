// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <topo/topology.hpp>

namespace berth::topo {

/// False for memory that is there for something special: of a GPU, or high-bandwidth memory beside
/// ordinary memory of the same processors.
bool is_main_memory(model::NumaNode const& numa);
/// Index of the NUMA node that contains all of `pus`: main memory before special, the smallest, of
/// equal ones that with most memory; -1: none does.
int numa_of(model::Node const& node, model::PuSet const& pus);

/// Adds GPUs and accelerators, found by PCI class and vendor; needs node.numa_nodes.
void read_devices(hwloc_topology_t topology, std::optional<std::string> const& sysfs_root,
                  model::Node& node);
/// Adds the network cards that can be used; needs node.numa_nodes.
void read_nics(hwloc_topology_t topology, std::optional<std::string> const& sysfs_root,
               model::Node& node);

}  // namespace berth::topo
