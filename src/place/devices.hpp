// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <model/plan.hpp>
#include <place/binding.hpp>
#include <place/home.hpp>

namespace berth::place {

/// Why a rank has its device.
enum class DeviceWhy {
  not_wanted,  ///< there are none, or nobody asked for them
  sees_none,   ///< the rank's visible set is empty
  order,       ///< as many ranks as devices: by bus id
  block,       ///< more ranks than devices: in blocks
  spread,      ///< fewer ranks than devices: far from each other
  best_path,   ///< one rank: the device with the best path to a card
  near_cores,  ///< nearest to where the launcher bound the rank
  visible,     ///< matched, because the ranks see different devices
  only_one,    ///< the rank sees no other
  caller       ///< the caller had set it
};

/// The device of one rank.
struct DeviceChoice {
  int device = -1;  ///< index into node.devices; -1: none
  DeviceWhy why = DeviceWhy::not_wanted;
  int sharers = 0;  ///< ranks that have this device
};

/// Devices for all ranks; a rank that sees none gets none.
/// @param homes of node.devices
/// @throws Error no_device naming the ranks that see too few devices between them, while there are
///   enough for all
std::vector<DeviceChoice> choose_devices(model::Node const& node, std::vector<Home> const& homes,
                                         std::vector<model::LocalRank> const& ranks,
                                         Bindings const& bindings);

/// `count` of the devices in `pool`, far from each other: each next one where the path to the
/// nearest already chosen is worst, then where fewer of its NUMA node are chosen, then with the
/// better path to a card, then by order. Devices with allowed cores beside them come first.
/// @return ascending
std::vector<int> spread(model::Node const& node, std::vector<Home> const& homes,
                        std::vector<int> const& pool, std::size_t count);

/// The node with the devices that ranks name but reading did not find (a container hides the PCI
/// bus), without locality; absent when there are none.
std::optional<model::Node> with_named_devices(model::Node const& node,
                                              std::vector<model::LocalRank> const& ranks);

}  // namespace berth::place
