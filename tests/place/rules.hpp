// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <model/node.hpp>
#include <model/plan.hpp>

namespace berth::test {

/// What is wrong with a plan, judged by rules that do not repeat the planner: everybody has cores,
/// only allowed ones, nobody shares a CPU while there are enough cores, shares are fair, cores are
/// local while local ones exist, devices are distinct while there are enough, memory has
/// processors. Empty: nothing.
std::vector<std::string> violations(model::Node const& node, model::NodePlan const& plan);

}  // namespace berth::test
