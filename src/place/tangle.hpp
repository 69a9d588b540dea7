// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <place/cores.hpp>

namespace berth::place {

/// Shares a tangled domain out, where every rank may have only some of the PUs. Everybody gets a
/// unit first, a PU or without SMT a core, by a flow that puts as few as possible on one core; then
/// every core that is left goes to whom has fewest of those who may have it.
void share_tangled(CoreMap const& cores, Domain const& domain, bool smt,
                   std::vector<CoreWish> const& wishes, std::vector<CoreShare>& shares);

}  // namespace berth::place
