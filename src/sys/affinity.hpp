// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <model/node.hpp>

/// CPU sets and memory policy of the calling thread.
namespace berth::sys {

/// PUs the calling thread may run on. @throws Error system
model::PuSet get_affinity();
/// Moves the calling thread and reads back. @throws Error system
void set_affinity(model::PuSet const& pus);
/// Prefers memory of these NUMA nodes (OS indices) for the calling thread; empty: default policy.
/// A kernel that refuses (containers) is not an error: false is returned. MPOL_PREFERRED_MANY where
/// the kernel has it, else MPOL_PREFERRED with the first node.
bool prefer_memory(std::vector<int> const& nodes) noexcept;

/// "0-3,8" -> 0 1 2 3 8. @throws Error bad_input for anything else, or a PU above 65535
model::PuSet parse_cpulist(std::string_view text);
/// 0 1 2 3 8 -> "0-3,8"
std::string format_cpulist(model::PuSet const& pus);

}  // namespace berth::sys
