// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <berth/options.hpp>
#include <berth/placement.hpp>
#include <model/node.hpp>

namespace berth::model {

/// Which device: several share a bus id under MIG and CPX, so the bus id alone does not name one.
struct DeviceKey {
  std::string bus_id;  ///< "0000:1b:00.0"
  int partition = 0;   ///< as Device::partition
  friend bool operator==(DeviceKey const&, DeviceKey const&) = default;
};

/// What one local rank brings to the plan.
struct LocalRank {
  int rank = -1;   ///< in the communicator
  PuSet affinity;  ///< sched_getaffinity before anything was bound; empty: not known
  /// The launcher was told to bind like this (--bind-to, --cpu-bind); false: nobody asked for it,
  /// it is the launcher's default.
  bool binding_asked = false;
  /// Devices this rank may use, in its own order; absent: all of the node. Empty: none.
  std::optional<std::vector<DeviceKey>> visible = std::nullopt;
  /// A device that the caller has set already: it is kept.
  std::optional<DeviceKey> chosen = std::nullopt;
};

using berth::Binding;

/// How to plan.
struct Policy {
  bool smt = true;          ///< give all allowed hardware threads of a core
  bool use_devices = true;  ///< false: cpu only, cores are shared evenly
  bool fill = false;        ///< deal the cores of NUMA nodes without device out too
  Binding binding = Binding::automatic;
};

/// The plan of one host: one Placement per local rank, in order.
struct NodePlan {
  std::vector<Placement> placements;
  double cost = 0;
  /// What the same job costs with each rank where the launcher bound it and the device that its
  /// local rank counts off; absent: no rank was bound.
  std::optional<double> launcher_cost;
};

}  // namespace berth::model
