// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <place/pus.hpp>

namespace berth::place {

/// What a rank asks of the cores.
struct CoreWish {
  int device = -1;     ///< index into node.devices; -1: none
  model::PuSet local;  ///< PUs that it should have; empty: none of these is allowed
  /// All that it may get where these are too few; owned by the caller.
  model::PuSet const* allowed = nullptr;
  bool kept = false;  ///< `allowed` is a binding of the launcher's
};

/// Ranks that share cores out.
struct Domain {
  model::PuSet pus;
  std::vector<std::size_t> ranks;  ///< ascending
  /// The ranks may not have the same of these PUs, but each only those of its wish.
  bool tangled = false;
};

/// Divides ranks and PUs into domains that have no PU in common. Ranks that wish for the same make
/// up one. A rank with nothing local, or too many ranks for the PUs they wish for, go where the
/// fewest NUMA hops lead to room; such a rank's wish is changed to what it got. Wide wishes leave
/// narrower ones inside them alone where enough is left.
/// @param allowed PUs of the whole plan
/// @param wishes by rank; what comes back in `local` is never empty when `allowed` is not
std::vector<Domain> make_domains(CoreMap const& cores, model::PuSet const& allowed, bool smt,
                                 std::vector<CoreWish>& wishes);

}  // namespace berth::place
