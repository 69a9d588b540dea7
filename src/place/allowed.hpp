// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <model/node.hpp>
#include <model/plan.hpp>

namespace berth::place {

/// PUs that the plan may use, and what that means for the launcher's binding.
struct Allowed {
  model::PuSet pus;
  bool kept_binding = false;  ///< all ranks came with one and the same restriction: it is respected
};

/// What the cgroup allows, narrowed where all ranks came with the same affinity (taskset, numactl,
/// one binding for the whole step). Different affinities are a launcher's rank by rank binding, for
/// example mpirun's one core each: the plan replaces it inside the cgroup.
Allowed allowed_for(model::Node const& node, std::vector<model::LocalRank> const& ranks);

/// A core with those of its PUs that may be used.
struct UsableCore {
  model::Core const* core = nullptr;
  model::PuSet pus;  ///< never empty
};

/// The cores that have allowed PUs, in the node's order; without `smt` the first allowed PU of
/// each.
std::vector<UsableCore> usable_cores(model::Node const& node, model::PuSet const& allowed,
                                     bool smt);

/// Common elements of two sorted sets.
model::PuSet intersection(model::PuSet const& a, model::PuSet const& b);
/// True when every element of `part` is in `whole`; both sorted.
bool is_within(model::PuSet const& part, model::PuSet const& whole);

}  // namespace berth::place
