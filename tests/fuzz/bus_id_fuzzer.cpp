// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fuzz/fuzz.hpp>

#include <topo/bus_id.hpp>

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace berth;
  auto const id = topo::parse_bus_id(test::text_of(data, size));
  if (!id) return 0;
  test::require(id->bus < 256 && id->device < 32 && id->function < 8, "the parts are in range");
  test::require(topo::parse_bus_id(topo::format_bus_id(*id)) == id, "the round trip");
  return 0;
}
