// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <hwloc.h>

#include <model/node.hpp>

/// hwloc as values. Private to the room.
namespace berth::topo {

/// Owns a loaded hwloc topology, disallowed objects and important I/O included. Move is not needed.
class Topology {
 public:
  /// The live machine. @throws Error system
  Topology();
  /// lstopo XML in memory. @throws Error bad_input with the reason alone
  explicit Topology(std::string const& xml);
  ~Topology();
  Topology(Topology const&) = delete;
  Topology& operator=(Topology const&) = delete;

  [[nodiscard]] hwloc_topology_t get() const { return topology_; }

 private:
  void prepare();
  hwloc_topology_t topology_ = nullptr;
};

/// The bits of a set, sorted; at most 65536 of them, infinite sets are cut there.
model::PuSet to_pus(hwloc_const_bitmap_t set);
/// Logical index of the nearest ancestor of that type; -1: none.
int ancestor_index(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object);
/// Value of an info key, printable; empty: none.
std::string info(hwloc_obj_t object, char const* key);

}  // namespace berth::topo
