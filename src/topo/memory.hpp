// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <topo/topology.hpp>

/// NUMA nodes. Private to the room.
namespace berth::topo {

/// Fills node.numa_nodes and node.numa_distance; needs node.packages.
void read_memory(hwloc_topology_t topology, model::Node& node);
/// Gives packages to the NUMA nodes that hang above packages (old files); needs node.cores.
void complete_packages(model::Node& node);
/// Names memory that is there for something special where hwloc did not: memory without processors
/// on machines whose GPUs show theirs, and the second of two nodes with the same processors. Takes
/// processors that hwloc only lent from nodes that have none. Needs node.devices.
void name_special_memory(hwloc_topology_t topology, model::Node& node);

/// Ordinary memory, as hwloc names it; not that of a GPU, high-bandwidth or far memory.
bool is_main_memory(model::NumaNode const& numa);
/// Index of the NUMA node that contains all of `pus`: main memory before special, the smallest, of
/// equal ones the first; -1: none does.
int numa_of(model::Node const& node, model::PuSet const& pus);
/// Index of the node with memory and processors that is nearest to node `numa` (-1: to nothing
/// known) in that package; -1: there is none.
int nearest_with_memory(model::Node const& node, int numa, int package);
/// The index in node.numa_nodes of an OS index; -1: none.
int numa_by_os_index(model::Node const& node, long long os_index);
/// Whether processors have one kind of near memory only, so that locality is no question.
bool is_one_domain(model::Node const& node);

/// Logical index of an object's package; 0 on a machine that names no packages, -1: none.
int package_of(hwloc_topology_t topology, model::Node const& node, hwloc_obj_t object);

}  // namespace berth::topo
