// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <model/node.hpp>
#include <model/plan.hpp>

/// Planning. Pure: no I/O, no MPI, no clock; the same values give the same plan everywhere.
namespace berth::place {

/// One Placement per local rank: device by bus id, a fair and disjoint share of the allowed local
/// cores, the memory node, the nearest NIC, with a reason and a cost in hops.
/// @throws Error no_device when devices are wanted and a rank cannot have one
model::NodePlan plan_node(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                          model::Policy const& policy);

/// A placement as one line of text and back; for carrying plans between processes.
std::string encode(Placement const& placement);
/// @throws Error internal when the text was not made by encode
Placement decode(std::string const& text);

}  // namespace berth::place
