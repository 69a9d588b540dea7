// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <sys/host.hpp>
#include <topo/convert.hpp>
#include <topo/topo.hpp>

namespace berth::topo {

model::Node read_live(std::string const& root) {
  Topology const topology;
  model::Node node = convert(topology, root);
  node.host = sys::host_identity(root).name;
  return node;
}

}  // namespace berth::topo
