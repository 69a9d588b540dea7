// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <model/node.hpp>

namespace berth::place {

/// Device (index) of each of `ranks` ranks; -1: none, because there are no devices. As many ranks
/// as devices: in bus order. More: in blocks. Fewer: spread over NUMA nodes and packages.
std::vector<int> assign_devices(model::Node const& node, int ranks);

}  // namespace berth::place
