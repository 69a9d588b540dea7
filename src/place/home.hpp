// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <place/pus.hpp>

namespace berth::place {

/// What is beside a device.
struct Home {
  bool known = false;  ///< false: nobody knows where the device is; everything counts as beside it
  model::PuSet pus;    ///< allowed PUs beside it; empty: none is allowed
};

/// The home of a device: the processors right beside it (an L3 group on Trento), where none of them
/// is allowed those of its NUMA node; of a device without NUMA node those of its package.
Home home_of(CoreMap const& cores, model::Device const& device, model::PuSet const& allowed);
/// The homes of all devices of the node.
std::vector<Home> homes_of(CoreMap const& cores, model::PuSet const& allowed);

/// The device's NUMA node, the wider neighbourhood that a launcher's binding has to touch to be
/// kept; its home's PUs when it has no NUMA node. Allowed or not.
model::PuSet neighbourhood(model::Node const& node, model::Device const& device);

}  // namespace berth::place
