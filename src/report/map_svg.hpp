// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <model/map.hpp>
#include <model/node.hpp>

/// The picture of `berth map --svg`.
namespace berth::report {

/// One host of a picture.
struct HostPicture {
  std::string title;                  ///< host name, perhaps with a summary; any text
  model::Node const* node = nullptr;  ///< not null, outlives the call; may be empty
  std::vector<model::MapRank> ranks;  ///< by rank
};

/// A standalone SVG 1.1 document without scripts and outside fonts: the hosts below each other,
/// each with its packages, NUMA nodes, cores in the colour of their rank, devices, NICs, the path
/// between them, and a legend. The same values give the same bytes in any locale. Pure.
std::string map_svg(std::vector<HostPicture> const& hosts);

}  // namespace berth::report
