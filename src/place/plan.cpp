// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <base/ranges.hpp>
#include <place/cost.hpp>
#include <place/decide.hpp>
#include <place/place.hpp>
#include <place/words.hpp>

namespace berth::place {
namespace {

std::vector<int> os_indices(model::Node const& node, std::vector<int> const& numas) {
  std::vector<int> indices;
  indices.reserve(numas.size());
  for (int const numa : numas) {
    indices.push_back(node.numa_nodes[static_cast<std::size_t>(numa)].os_index);
  }
  return indices;
}

Placement write(model::Node const& node, Decision const& made, model::LocalRank const& rank) {
  Placement placement;
  if (made.device.device >= 0) {
    model::Device const& device = node.devices[static_cast<std::size_t>(made.device.device)];
    placement.device = device.bus_id;
    placement.partition = device.partition;
  }
  placement.cpus = base::format_ranges(united(made.share.pus, made.share.filled));
  placement.cores = made.share.cores;
  auto const numas = os_indices(node, made.numas);
  if (!numas.empty()) placement.numa_node = numas.front();
  placement.memory_nodes = os_indices(node, made.memory.nodes);
  std::sort(placement.memory_nodes.begin(), placement.memory_nodes.end());
  for (int const nic : made.nics.nics) {
    placement.nics.push_back(node.nics[static_cast<std::size_t>(nic)].name);
  }
  if (!placement.nics.empty()) placement.nic_path = path_name(made.nics.path);
  placement.flags = flags_of(node, made, rank.affinity);
  placement.cost = cost_of(node, {made.device.device, made.numas}, made.cores, made.nics);
  placement.reason = reason_of(node, made);
  return placement;
}

model::NodePlan plan_listed(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                            model::Policy const& policy) {
  CoreMap const cores(node);
  auto const decisions = decide(cores, ranks, policy);
  model::NodePlan plan;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Placement placement = write(node, decisions[i], ranks[i]);
    placement.local_rank = static_cast<int>(i);
    placement.local_size = static_cast<int>(ranks.size());
    plan.cost += placement.cost;
    plan.placements.push_back(std::move(placement));
  }
  plan.launcher_cost = cost_of_launcher(cores, ranks, policy);
  return plan;
}

}  // namespace

model::NodePlan plan_node(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                          model::Policy const& policy) {
  auto const completed = with_named_devices(node, ranks);
  return plan_listed(completed && policy.use_devices ? *completed : node, ranks, policy);
}

}  // namespace berth::place
