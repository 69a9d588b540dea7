// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <place/binding.hpp>

namespace berth::place {
namespace {

bool is_one_core_by_default(CoreMap const& cores, model::LocalRank const& rank) {
  return !rank.binding_asked && cores.cores(rank.affinity, true).size() == 1;
}

bool are_same(std::vector<model::LocalRank> const& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](model::LocalRank const& rank) {
    return rank.affinity == ranks.front().affinity;
  });
}

}  // namespace

bool Bindings::any_bound() const {
  return std::any_of(bound.begin(), bound.end(), [](auto const& pus) { return !pus.empty(); });
}

model::PuSet allowed_pus(CoreMap const& cores) {
  model::PuSet allowed = intersection(cores.all(), cores.node().allowed);
  // A container may hide its cgroup or describe another one; what exists is then all we know.
  return allowed.empty() ? cores.all() : allowed;
}

bool is_bound(model::PuSet const& affinity, model::PuSet const& allowed) {
  return touches(affinity, allowed) && !is_within(allowed, affinity);
}

Bindings read_bindings(CoreMap const& cores, std::vector<model::LocalRank> const& ranks,
                       model::Policy const& policy) {
  Bindings result;
  result.allowed = allowed_pus(cores);
  result.bound.resize(ranks.size());
  if (ranks.empty() || policy.binding == model::Binding::rebind) return result;
  bool const same = are_same(ranks);
  bool const by_default =
      policy.binding == model::Binding::automatic && (!same || ranks.size() == 1) &&
      std::all_of(ranks.begin(), ranks.end(), [&](model::LocalRank const& rank) {
        return is_one_core_by_default(cores, rank);
      });
  if (by_default) return result;
  if (same) {
    result.common = is_bound(ranks.front().affinity, result.allowed);
    if (result.common) result.allowed = intersection(result.allowed, ranks.front().affinity);
    return result;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!is_bound(ranks[i].affinity, result.allowed)) continue;
    result.bound[i] = intersection(ranks[i].affinity, result.allowed);
  }
  return result;
}

}  // namespace berth::place
