// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <model/plan.hpp>
#include <place/pus.hpp>

namespace berth::place {

/// What the launcher's bindings mean for the plan.
struct Bindings {
  model::PuSet allowed;  ///< PUs that the plan may use at all
  bool common = false;   ///< all ranks came with one and the same restriction, which `allowed` is
  /// By rank: what the launcher bound it to and may be kept; empty: it is free.
  std::vector<model::PuSet> bound;
  [[nodiscard]] bool any_bound() const;
};

/// What the cgroup allows, narrowed where all ranks came with the same affinity (taskset, numactl,
/// the cpuset of a job step). Different affinities are a binding rank by rank. It does not count
/// when every rank has a single core that nobody asked for, which is mpirun's default for few ranks
/// and srun's for one CPU per task, nor under Binding::rebind.
Bindings read_bindings(CoreMap const& cores, std::vector<model::LocalRank> const& ranks,
                       model::Policy const& policy);

/// PUs of the node that the cgroup allows; all when it allows none that exist.
model::PuSet allowed_pus(CoreMap const& cores);

/// Is the affinity a restriction inside `allowed`?
bool is_bound(model::PuSet const& affinity, model::PuSet const& allowed);

}  // namespace berth::place
