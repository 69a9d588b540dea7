// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/interfaces.hpp>
#include <topo/topology.hpp>

/// Network cards: what is known of them, and which of them a rank may get. Private to the room.
namespace berth::topo {

/// A port of a verbs device.
struct PortFacts {
  int number = 1;
  int state = 0;               ///< 1 down, 2 initializing, 3 armed, 4 active; 0: not told
  std::optional<double> gbps;  ///< absent: not told
};

/// All that was read about one network card or interface.
struct NicFacts {
  model::Nic nic;  ///< name, place and, for interfaces, speed
  bool verbs = false;
  bool slingshot = false;
  std::string refusal;              ///< why it is none for a rank, as far as its reader can say
  std::vector<PortFacts> ports;     ///< verbs only
  std::optional<bool> up;           ///< interfaces: absent: not told
  bool no_speed = false;            ///< the kernel says that its speed is 0
  std::vector<std::string> below;   ///< interfaces it is made of: slaves of a bond, a VLAN's parent
  std::string function_of;          ///< bus id of the physical function; empty: it is none's
  std::optional<sys::Reach> reach;  ///< interfaces: absent: not told
};

/// Interfaces that never belong to a card: loopback, containers, tunnels, virtual machines.
bool is_virtual_name(std::string_view name);
/// Sorts what was found into node.nics and node.unused_nics, with the reason.
void choose_nics(std::vector<NicFacts> facts, model::Node& node);

/// Cards of a recorded machine; needs node.numa_nodes.
std::vector<NicFacts> recorded_nics(hwloc_topology_t topology, model::Node const& node);
/// Cards of the machine whose /sys is under `root`; hwloc tells where those it knows hang. Needs
/// node.numa_nodes.
/// @param reach addresses per interface; absent: not known, so that none is refused for want of one
std::vector<NicFacts> live_nics(hwloc_topology_t topology, std::string const& root,
                                std::optional<std::map<std::string, sys::Reach>> const& reach,
                                model::Node const& node);

}  // namespace berth::topo
