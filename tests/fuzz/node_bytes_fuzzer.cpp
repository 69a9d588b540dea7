// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fuzz/fuzz.hpp>

#include <berth/error.hpp>
#include <topo/codec.hpp>

// What a child that was taken over could send.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace berth;
  try {
    model::Node const node = topo::decode_node(test::text_of(data, size));
    auto const numas = static_cast<int>(node.numa_nodes.size());
    for (auto const& core : node.cores) test::require(core.numa < numas, "a core's NUMA node");
    for (auto const& device : node.devices) test::require(device.numa < numas, "a device's");
    std::string const bytes = topo::encode_node(node);
    test::require(topo::encode_node(topo::decode_node(bytes)) == bytes, "the round trip");
  } catch (Error const& error) {
    test::require(error.code() == Errc::bad_input, "a refusal is bad input");
  }
  return 0;
}
