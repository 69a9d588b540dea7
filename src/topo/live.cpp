// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <sys/host.hpp>
#include <topo/convert.hpp>
#include <topo/topo.hpp>

namespace berth::topo {
namespace {

bool lacks_locality(model::Node const& node) {
  auto const unknown = [](auto const& one) { return one.numa < 0; };
  return std::any_of(node.devices.begin(), node.devices.end(), unknown) ||
         std::any_of(node.nics.begin(), node.nics.end(), unknown);
}

}  // namespace

model::Node read_live(LiveOptions const& options) {
  Topology const topology;
  LiveSource source{options.root, options.reach};
  if (!source.reach && options.root.empty()) source.reach = sys::interface_reach();
  model::Node node = convert(topology, source);
  node.host = sys::host_identity(options.root).name;
  if (!options.nccl_topology.empty() && lacks_locality(node)) {
    complete_from_nccl(node, options.nccl_topology);
  }
  return node;
}

}  // namespace berth::topo
