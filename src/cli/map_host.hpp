// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <model/map.hpp>
#include <model/node.hpp>

namespace berth::cli {

/// A host of the map: what is known of the machine, and its ranks.
/// @param placements rank in the job and its place, by rank
model::MapHost host_of(std::string name, model::Node const& node,
                       std::vector<std::pair<int, Placement>> const& placements);

}  // namespace berth::cli
