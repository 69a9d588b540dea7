// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fuzz/nodes.hpp>

#include <berth/error.hpp>
#include <topo/file.hpp>
#include <topo/topology.hpp>

// The reader of topology files as a black box, its child included.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace berth;
  // Keeps hwloc's plugins loaded, which every child would load anew.
  static topo::Topology const plugins;
  try {
    test::require_node(topo::read_text("input.xml", std::string(test::text_of(data, size))));
  } catch (Error const& error) {
    std::string const text = error.what();
    test::require(error.code() == Errc::bad_input, "a refusal is bad input");
    test::require(text.find("topology file input.xml: ") == 0, "a refusal names the file");
    test::require(text.find('\n') == std::string::npos, "a refusal is one line");
    // hwloc may abort; our own code in the child may not be stopped by a sanitizer.
    test::require(text.find("gave up") == std::string::npos, "the child does not give up");
  }
  return 0;
}
