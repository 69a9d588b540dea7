// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <model/node.hpp>
#include <model/plan.hpp>

namespace berth::test {

/// What is wrong with a plan, judged by rules that do not repeat the planner. Empty: nothing.
/// - everybody has CPUs, only those that the cgroup and a kept binding allow, and whole cores
/// - no two ranks share a CPU unless there are fewer cores than ranks
/// - nobody has remote cores while there is room on local ones; shares beside a device differ by at
///   most one core, or one L3 group where all have three quarters of a fair share
/// - filled up, no allowed core is idle
/// - devices are distinct while there are enough, seen by the rank, and the caller's is kept
/// - memory nodes have processors and ordinary memory while there is such
/// - no better path to a card is left unused, nobody shares a card while an equal one is idle
/// - every compromise is flagged, nothing else is, and the costs add up
std::vector<std::string> violations(model::Node const& node,
                                    std::vector<model::LocalRank> const& ranks,
                                    model::Policy const& policy, model::NodePlan const& plan);

}  // namespace berth::test
