// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <model/node.hpp>

/// A Node as bytes, for the way from the child that parsed XML. Same machine, same program.
namespace berth::topo {

std::string encode_node(model::Node const& node);
/// Believes nothing: lengths, counts and indices are checked, texts made printable.
/// @throws Error bad_input for bytes that encode_node would not make
model::Node decode_node(std::string_view bytes);

}  // namespace berth::topo
