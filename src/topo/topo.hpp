// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include <model/node.hpp>
#include <sys/interfaces.hpp>

/// Reads a node: hwloc, sysfs under a root prefix, lstopo XML and NCCL topology XML.
namespace berth::topo {

/// How to read the machine this process runs on.
struct LiveOptions {
  std::string root = {};           ///< prefix of /sys and /proc, for tests; "" is the live system
  std::string nccl_topology = {};  ///< file of NCCL_TOPO_FILE for complete_from_nccl; "": none
  /// Addresses of network interfaces; absent: the kernel's under root "", else not known, so that
  /// no interface is left out for want of one.
  std::optional<std::map<std::string, sys::Reach>> reach = std::nullopt;
};

/// The machine this process runs on, disallowed objects included and marked in `allowed`. What
/// NUMA node a device belongs to is left unknown (-1) where nothing tells it.
/// @throws Error system; bad_input for a broken nccl_topology that was needed
model::Node read_live(LiveOptions const& options = {});

/// A machine from a file: lstopo XML of hwloc 1 or 2, or NCCL topology XML with CPU affinities.
/// Parsed in a forked child with limits, because hwloc aborts on some damaged files. Do not call it
/// in a process that has initialised MPI.
///
/// NCCL files tell no cores, packages and memory sizes: each processor is taken as a core, each
/// CPU element as a package with one NUMA node, whose memory_bytes is 1.
/// @throws Error bad_input naming file and reason
model::Node read_xml(std::string const& path);

/// Gives devices and NICs of unknown locality the place (NUMA node, package, bridges) that an NCCL
/// topology file knows for their bus ids; all others stay as they are. Virtual machines need it.
/// Parsed in this process, as NCCL will do, so that it may follow MPI_Init.
/// @throws Error bad_input naming file and reason
void complete_from_nccl(model::Node& node, std::string const& path);

}  // namespace berth::topo
