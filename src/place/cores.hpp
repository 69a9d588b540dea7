// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <place/domains.hpp>

namespace berth::place {

/// What one rank gets of the cores.
struct CoreShare {
  model::PuSet pus;      ///< sorted, never empty
  int cores = 0;         ///< whole or part cores, what was filled in included
  int domain = 0;        ///< cores that its domain shares out
  model::PuSet filled;   ///< dealt out on top, from where no device in use is
  int filled_cores = 0;  ///< whole cores in `filled`
};

/// Shares a domain out, in order of the ranks: contiguous pieces of whole cores that differ by at
/// most one core; cut at L3 groups where every piece still has three quarters of its fair share and
/// they differ by at most one L3 group. Of each kind of core everybody gets as many, the faster
/// first. Fewer cores than ranks: the threads of a core are divided, and only then shared.
void share_domain(CoreMap const& cores, Domain const& domain, bool smt,
                  std::vector<CoreWish> const& wishes, std::vector<CoreShare>& shares);

/// Deals the allowed cores that are in no domain to ranks that may have them: those of a NUMA node
/// to the nearest domains, in the same package if there is one there, so that ranks come out even.
void fill_up(CoreMap const& cores, model::PuSet const& allowed, bool smt,
             std::vector<Domain> const& domains, std::vector<CoreWish> const& wishes,
             std::vector<CoreShare>& shares);

/// Every next one to whom has least so far: how many of `count` items each gets.
/// @param had what each has before
std::vector<int> deal_evenly(int count, std::vector<double> had, std::vector<double> const& weight);

}  // namespace berth::place
