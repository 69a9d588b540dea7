// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <model/node.hpp>
#include <model/plan.hpp>

/// Planning. Pure: no I/O, no MPI, no clock; the same values give the same plan everywhere.
namespace berth::place {

/// One Placement per local rank: device by bus id, a fair and disjoint share of the allowed local
/// cores, the memory node, the nearest NIC, with a reason and a cost in hops.
/// @throws Error no_device when devices are wanted and a rank cannot have one
model::NodePlan plan_node(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                          model::Policy const& policy);

/// One host of a cluster.
struct HostRequest {
  std::size_t node = 0;                 ///< index into the cluster's distinct nodes
  std::vector<model::LocalRank> ranks;  ///< its local ranks
};

/// The plans of many hosts. Hosts of the same node that ask for the same are planned once, so equal
/// hosts get equal plans and their rails stay aligned.
/// @throws Error as plan_node
std::vector<model::NodePlan> plan_cluster(std::vector<model::Node> const& nodes,
                                          std::vector<HostRequest> const& hosts,
                                          model::Policy const& policy);

/// The devices that a CUDA_VISIBLE_DEVICES text lets a process use, in the text's order: indices by
/// bus id, -1 and whatever else is not valid ends the list, "GPU-" and "MIG-" with a unique prefix,
/// the old "MIG-GPU-uuid/gi/ci"; empty: none; a device named twice: none, as the CUDA runtime does.
/// @param text absent (not an empty text): all devices
/// @throws Error bad_input for a text that no CUDA runtime would take
std::vector<model::DeviceKey> visible_devices(model::Node const& node,
                                              std::optional<std::string> const& text);

/// A placement as one line of text and back; for carrying plans between processes.
std::string encode(Placement const& placement);
/// @throws Error internal when the text was not made by encode
Placement decode(std::string const& text);

}  // namespace berth::place
