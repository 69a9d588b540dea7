// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <place/cores.hpp>
#include <place/devices.hpp>
#include <place/memory.hpp>
#include <place/nics.hpp>

namespace berth::place {

/// What was decided for one rank, and how it came.
struct Decision {
  DeviceChoice device;
  bool kept_binding = false;      ///< the launcher's binding limits it
  bool unknown = false;           ///< it has a device, but nobody knows where that is
  bool remote = false;            ///< a core is not beside the device, and was not filled in
  CoreShare share;                ///< without PUs where the node has none
  std::vector<UsableCore> cores;  ///< of the share, what was filled in included
  int sharers = 1;                ///< ranks on its cores, the most on one; above 1: a compromise
  bool own_threads = true;        ///< nobody else has its PUs
  std::vector<int> numas;         ///< NUMA nodes of the cores, that of most cores first
  Memory memory;
  NicChoice nics;
};

/// Devices, then cores beside them, then memory beside these, then cards.
/// @param cores of a node that lists every device that ranks name
/// @throws Error as choose_devices
std::vector<Decision> decide(CoreMap const& cores, std::vector<model::LocalRank> const& ranks,
                             model::Policy const& policy);

/// NUMA nodes of cores, that of most cores first.
std::vector<int> numas_of(model::Node const& node, std::vector<UsableCore> const& cores);

}  // namespace berth::place
