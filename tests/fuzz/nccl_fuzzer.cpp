// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fuzz/nodes.hpp>

#include <berth/error.hpp>
#include <topo/codec.hpp>
#include <topo/nccl.hpp>

// The converter of NCCL's topology files, in this process.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace berth;
  try {
    topo::NcclSystem const system = topo::parse_nccl(test::text_of(data, size));
    model::Node node = topo::node_from_nccl(system);
    test::require_node(node);
    std::string const bytes = topo::encode_node(node);
    test::require(topo::encode_node(topo::decode_node(bytes)) == bytes,
                  "the way back from the child");
    for (auto& device : node.devices) device.numa = -1;
    for (auto& nic : node.nics) nic.numa = -1;
    topo::complete(node, system);
    test::require_node(node);
  } catch (Error const& error) {
    test::require(error.code() == Errc::bad_input, "a refusal is bad input");
  }
  return 0;
}
