// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <topo/topology.hpp>

/// GPUs and accelerators. Private to the room.
namespace berth::topo {

/// Whether a rank can be put on a PCI function: GPUs of NVIDIA, AMD and Intel and processing
/// accelerators. Service processors, NVSwitches and the display part of a processor are none.
/// @param bus the bus number; parts of the processor itself are on bus 0
bool is_device(unsigned vendor, unsigned pci_class, unsigned bus);

/// Whether a display of AMD's is the old console chip of a server.
bool is_service_display(unsigned vendor, unsigned device);

/// Fills node.devices, found by PCI class and vendor; needs node.numa_nodes.
/// @param root prefix of /sys and /proc for what hwloc does not tell (MIG, partitions of AMD's);
///   absent for a recorded machine
void read_devices(hwloc_topology_t topology, std::optional<std::string> const& root,
                  model::Node& node);

}  // namespace berth::topo
