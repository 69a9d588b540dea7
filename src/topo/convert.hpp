// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include <sys/interfaces.hpp>
#include <topo/topology.hpp>

namespace berth::topo {

/// Where a live machine is completed from.
struct LiveSource {
  std::string root;  ///< prefix of /sys and /proc
  /// Addresses per interface; absent: not known.
  std::optional<std::map<std::string, sys::Reach>> reach;
};

/// A topology as plain values.
/// @param source absent for a recorded machine
/// @throws Error bad_input when it has no processors, or none that is allowed
model::Node convert(Topology const& topology, std::optional<LiveSource> const& source);

}  // namespace berth::topo
