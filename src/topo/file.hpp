// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <model/node.hpp>

/// Topology files before they are parsed. Private to the room.
namespace berth::topo {

/// What a file claims to be.
enum class FileKind { hwloc, nccl };

/// @throws Error bad_input: "topology file <path>: <reason>"
[[noreturn]] void fail_file(std::string const& path, std::string_view reason);
/// The whole file. Only regular files of at most `most_bytes`. @throws Error bad_input
std::string load_file(std::string const& path, std::size_t most_bytes);
/// Finds out what the text is from its root element, and refuses what no parser should see:
/// entities of its own, elements nested too deep, hwloc XML newer than this build's hwloc.
/// @param path for the message
/// @throws Error bad_input
FileKind check_text(std::string const& path, std::string_view text);
/// Everything read_xml does after loading. @param path for messages and the host's name
/// @throws Error bad_input
model::Node read_text(std::string const& path, std::string const& text);

}  // namespace berth::topo
