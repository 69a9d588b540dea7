// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include <place/hops.hpp>
#include <place/memory.hpp>

namespace berth::place {
namespace {

bool is_ordinary(model::NumaNode const& numa) {
  return numa.subtype != "GPUMemory" && numa.subtype != "MCDRAM" && numa.subtype != "HBM";
}

// Nodes to allocate from. A machine whose memory nobody has counted has some all the same.
std::vector<bool> usable_nodes(model::Node const& node) {
  auto const& numas = node.numa_nodes;
  bool const counted = std::any_of(numas.begin(), numas.end(),
                                   [](auto const& numa) { return numa.memory_bytes > 0; });
  auto const has_memory = [&](model::NumaNode const& numa) {
    return !numa.pus.empty() && numa.subtype != "GPUMemory" && (numa.memory_bytes > 0 || !counted);
  };
  std::vector<bool> usable(numas.size(), false);
  for (std::size_t i = 0; i < numas.size(); ++i) {
    usable[i] =
        has_memory(numas[i]) &&
        (is_ordinary(numas[i]) || std::none_of(numas.begin(), numas.end(), [&](auto& other) {
           return is_ordinary(other) && has_memory(other) && touches(other.pus, numas[i].pus);
         }));
  }
  return usable;
}

}  // namespace

std::vector<int> memory_by_numa(model::Node const& node) {
  std::vector<bool> const usable = usable_nodes(node);
  std::vector<int> chosen(node.numa_nodes.size(), -1);
  for (std::size_t from = 0; from < chosen.size(); ++from) {
    model::NumaNode const& own = node.numa_nodes[from];
    auto const key = [&](std::size_t to) {
      model::NumaNode const& other = node.numa_nodes[to];
      return std::tuple(to != from, !touches(own.pus, other.pus),
                        numa_hops(node, static_cast<int>(from), static_cast<int>(to)),
                        own.package != other.package, to);
    };
    for (std::size_t to = 0; to < usable.size(); ++to) {
      bool const better =
          usable[to] && (chosen[from] < 0 || key(to) < key(static_cast<std::size_t>(chosen[from])));
      if (better) chosen[from] = static_cast<int>(to);
    }
  }
  return chosen;
}

Memory choose_memory(model::Node const& node, std::vector<int> const& by_numa,
                     std::vector<UsableCore> const& cores) {
  Memory memory;
  std::map<int, int> count;
  for (UsableCore const& core : cores) {
    int const numa = node.cores[core.core].numa;
    int const from = numa >= 0 ? by_numa[static_cast<std::size_t>(numa)] : -1;
    bool const local =
        from >= 0 && is_within(core.pus, node.numa_nodes[static_cast<std::size_t>(from)].pus);
    memory.local = memory.local && (local || node.numa_nodes.empty());
    if (from >= 0) ++count[from];
  }
  for (auto const& [numa, shared] : count) memory.nodes.push_back(numa);
  std::stable_sort(memory.nodes.begin(), memory.nodes.end(),
                   [&](int a, int b) { return count[a] > count[b]; });
  return memory;
}

}  // namespace berth::place
