// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <model/plan.hpp>
#include <place/nics.hpp>
#include <place/pus.hpp>

namespace berth::place {

/// Weighted hops of one rank: 100 per class of the path from device to first card, 40 per NUMA hop
/// from the cores to the device (their mean), 20 from the nearest core to the card, 10 per rank
/// that uses the card already. Ethernet, the fallback, costs nothing: it is not worth moving
/// anybody for.
/// @param seat with the NUMA nodes of the cores
double cost_of(model::Node const& node, Seat const& seat, std::vector<UsableCore> const& cores,
               NicChoice const& choice);

/// The same for all ranks as the launcher bound them, each with the device that its local rank
/// counts off among those it sees; absent when no rank is bound.
std::optional<double> cost_of_launcher(CoreMap const& cores,
                                       std::vector<model::LocalRank> const& ranks,
                                       model::Policy const& policy);

}  // namespace berth::place
