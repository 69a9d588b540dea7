// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <place/allowed.hpp>

namespace berth::place {
namespace {

model::PuSet all_pus(model::Node const& node) {
  model::PuSet pus;
  for (auto const& core : node.cores) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
  std::sort(pus.begin(), pus.end());
  pus.erase(std::unique(pus.begin(), pus.end()), pus.end());
  return pus;
}

}  // namespace

model::PuSet intersection(model::PuSet const& a, model::PuSet const& b) {
  model::PuSet common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common;
}

bool is_within(model::PuSet const& part, model::PuSet const& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

Allowed allowed_for(model::Node const& node, std::vector<model::LocalRank> const& ranks) {
  Allowed result;
  model::PuSet const existing = all_pus(node);
  result.pus = intersection(existing, node.allowed);
  // A container may hide its cgroup or describe another one; what exists is then all we know.
  if (result.pus.empty()) result.pus = existing;
  if (ranks.empty()) return result;
  bool const same = std::all_of(ranks.begin(), ranks.end(), [&](model::LocalRank const& rank) {
    return rank.affinity == ranks.front().affinity;
  });
  model::PuSet const common = intersection(result.pus, ranks.front().affinity);
  if (same && !common.empty() && common.size() < result.pus.size()) {
    result.pus = common;
    result.kept_binding = true;
  }
  return result;
}

std::vector<UsableCore> usable_cores(model::Node const& node, model::PuSet const& allowed,
                                     bool smt) {
  std::vector<UsableCore> usable;
  for (auto const& core : node.cores) {
    model::PuSet pus = intersection(core.pus, allowed);
    if (pus.empty()) continue;
    if (!smt) pus.erase(pus.begin() + 1, pus.end());
    usable.push_back({&core, std::move(pus)});
  }
  return usable;
}

}  // namespace berth::place
