// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <topo/topology.hpp>

namespace berth::topo {

/// A topology as plain values.
/// @param sysfs_root prefix of /sys to complete it from (link states, speeds, missing NUMA nodes);
///   absent for a recorded machine
/// @throws Error bad_input when it has no processors
model::Node convert(Topology const& topology, std::optional<std::string> const& sysfs_root);

}  // namespace berth::topo
