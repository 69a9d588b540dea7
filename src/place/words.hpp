// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <model/plan.hpp>
#include <place/decide.hpp>

namespace berth::place {

/// The compromises of a decision, words of docs/placement.md.
/// @param affinity where the rank was before; empty: not known
std::vector<std::string> flags_of(model::Node const& node, Decision const& made,
                                  model::PuSet const& affinity);

/// One line: "device 3 of 8 by bus id; 14 of 56 local cores; mlx5_3 behind the same switch".
std::string reason_of(model::Node const& node, Decision const& made);

}  // namespace berth::place
