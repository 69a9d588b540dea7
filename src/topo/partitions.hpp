// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <topo/bus_id.hpp>

/// What the drivers tell of devices in proc and sysfs. Private to the room.
namespace berth::topo {

/// A device as its driver shows it.
struct DriverFacts {
  unsigned vendor = 0;
  std::string model;               ///< empty: not known
  std::vector<std::string> uuids;  ///< one per partition, at least one; empty texts: not known
};

/// By PCI function: /proc/driver/nvidia with the MIG instances below it, and the nodes of AMD's
/// /sys/class/kfd. A device no driver shows is absent.
/// @param root prefix of /sys and /proc
std::map<BusId, DriverFacts> read_driver_facts(std::string const& root);

}  // namespace berth::topo
