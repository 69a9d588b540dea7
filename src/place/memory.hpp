// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <place/pus.hpp>

namespace berth::place {

/// The memory of one rank, as indices into node.numa_nodes.
struct Memory {
  std::vector<int> nodes;  ///< to allocate from, the one of most cores first; empty: not known
  bool local = true;       ///< false: some cores have no memory of their own
};

/// By NUMA node the one to allocate from: itself where it has processors and ordinary memory;
/// otherwise another over the same processors, otherwise the nearest. GPU memory never counts,
/// high-bandwidth memory only where the same processors have no other. -1: none at all.
std::vector<int> memory_by_numa(model::Node const& node);

/// Memory for the cores of a rank.
/// @param by_numa from memory_by_numa
Memory choose_memory(model::Node const& node, std::vector<int> const& by_numa,
                     std::vector<UsableCore> const& cores);

}  // namespace berth::place
