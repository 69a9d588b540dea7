// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <model/node.hpp>
#include <place/allowed.hpp>

namespace berth::place {

/// What one rank gets of the cores.
struct CoreShare {
  std::vector<std::size_t> cores;  ///< indices into the usable cores, ascending; never empty
  std::size_t domain = 0;          ///< cores that its group of ranks has to share out
  int sharers = 1;       ///< ranks that have the same core; above 1: fewer cores than ranks
  bool remote = false;   ///< some cores are not beside the device
  bool unknown = false;  ///< nobody knows which cores are beside the device
};

/// Shares the usable cores out. Ranks whose devices sit beside the same cores divide these into
/// contiguous pieces that differ by at most one core; ranks without device (-1) divide all cores.
/// @param devices index into node.devices per rank
/// @param usable not empty
std::vector<CoreShare> share_cores(model::Node const& node, std::vector<UsableCore> const& usable,
                                   std::vector<int> const& devices);

}  // namespace berth::place
