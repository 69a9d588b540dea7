// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <model/node.hpp>
#include <place/hops.hpp>

namespace berth::place {

/// Where a rank looks for a card from.
struct Seat {
  int device = -1;         ///< index into node.devices; -1: none
  std::vector<int> numas;  ///< NUMA nodes (indices) of its cores
};

/// The cards of one rank.
struct NicChoice {
  std::vector<int> nics;  ///< indices into node.nics, best first; empty: the node has none
  Path path = Path::unk;  ///< to the first
  int load = 0;           ///< ranks that had chosen the first before
};

/// Fabric cards, or where there is none the ethernet; indices into node.nics, in the order of their
/// names with numbers counted as such (mlx5_2 before mlx5_10).
std::vector<int> candidate_nics(model::Node const& node);

/// Cards for all seats: best path class, then speed, then the least loaded, then in step: the i-th
/// of the ranks with equally good cards takes the i-th of these. Cards of the same class and speed
/// that nobody took are dealt out as second, third, ... cards, so that every rank has its share of
/// the cards that are near it and no two have the same while these last.
std::vector<NicChoice> choose_nics(model::Node const& node, std::vector<Seat> const& seats);

}  // namespace berth::place
