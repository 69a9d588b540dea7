// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <model/node.hpp>

/// Reads a node: hwloc, sysfs under a root prefix, and lstopo XML.
namespace berth::topo {

/// The machine this process runs on, disallowed objects included and marked in `allowed`.
/// @param root prefix of /sys, for tests; "" is the live system
/// @throws Error system
model::Node read_live(std::string const& root = {});

/// A machine from an lstopo XML file; parsed in a forked child with limits, because hwloc aborts
/// on some damaged files. Do not call it in a process that has initialised MPI.
/// @throws Error bad_input naming file and reason
model::Node read_xml(std::string const& path);

}  // namespace berth::topo
