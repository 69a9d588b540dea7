// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <topo/topology.hpp>

/// Cores. Private to the room.
namespace berth::topo {

/// Fills node.cores, efficiency classes included; needs node.packages and node.numa_nodes.
/// @throws Error bad_input when there is none, or when two cores claim one PU
void read_cores(hwloc_topology_t topology, model::Node& node);

}  // namespace berth::topo
