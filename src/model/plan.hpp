// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <berth/placement.hpp>
#include <model/node.hpp>

namespace berth::model {

/// What one local rank brings to the plan.
struct LocalRank {
  int rank = -1;   ///< in the communicator
  PuSet affinity;  ///< sched_getaffinity before anything was bound
};

/// How to plan.
struct Policy {
  bool smt = true;          ///< give all allowed hardware threads of a core
  bool use_devices = true;  ///< false: cpu only, cores are shared evenly
};

/// The plan of one host: one Placement per local rank, in order.
struct NodePlan {
  std::vector<Placement> placements;
  double cost = 0;
};

}  // namespace berth::model
