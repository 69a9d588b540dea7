// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "seen.hpp"

#include <map>
#include <set>
#include <sstream>

namespace berth::test {

Set as_set(model::PuSet const& pus) {
  Set set;
  for (int const pu : pus) set.set(static_cast<std::size_t>(pu));
  return set;
}

Set as_set(std::string const& list) {
  Set set;
  std::istringstream text(list);
  int first = 0;
  while (text >> first) {
    int last = first;
    if (text.peek() == '-') {
      text.ignore();
      text >> last;
    }
    for (int pu = first; pu <= last; ++pu) set.set(static_cast<std::size_t>(pu));
    text.ignore();
  }
  return set;
}

bool meets(Set const& a, Set const& b) {
  return (a & b).any();
}

bool inside(Set const& part, Set const& whole) {
  return (part & ~whole).none();
}

std::pair<bool, Set> beside_device(model::Node const& node, model::Device const& device,
                                   Set const& allowed) {
  std::set<model::PuSet> different;
  for (auto const& numa : node.numa_nodes) {
    if (!numa.pus.empty()) different.insert(numa.pus);
  }
  Set everything;
  for (auto const& core : node.cores) everything |= as_set(core.pus);
  Set const local = as_set(device.local_pus);
  bool const vague = different.size() > 1 && inside(everything, local);
  if (!vague && meets(local, allowed)) return {true, local};
  if (device.numa >= 0) {
    auto const& numa = node.numa_nodes[static_cast<std::size_t>(device.numa)];
    if (numa.subtype != "GPUMemory") return {true, as_set(numa.pus)};
  }
  if (different.size() <= 1) return {true, everything};
  if (device.package >= 0 && node.packages > 1) {
    Set package;
    for (auto const& core : node.cores) {
      if (core.package == device.package) package |= as_set(core.pus);
    }
    return {true, package};
  }
  return {!vague && local.any(), Set{}};
}
int class_of_name(std::string const& name) {
  static std::map<std::string, int> const classes{{"PIX", 0}, {"PXB", 2},  {"PHB", 4}, {"NODE", 6},
                                                  {"UNK", 7}, {"SOCK", 8}, {"SYS", 10}};
  auto const at = classes.find(name);
  return at == classes.end() ? -1 : at->second;
}

}  // namespace berth::test
