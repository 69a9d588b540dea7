// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <place/binding.hpp>
#include <place/cost.hpp>
#include <place/decide.hpp>

namespace berth::place {
namespace {

double hops_to_device(model::Node const& node, std::vector<UsableCore> const& cores,
                      model::Device const& device) {
  double hops = 0;
  for (UsableCore const& core : cores) hops += device_hops(node, node.cores[core.core], device);
  return cores.empty() ? 0 : hops / static_cast<double>(cores.size());
}

double hops_to_card(model::Node const& node, std::vector<int> const& numas, model::Nic const& nic) {
  double least = numas.empty() ? 0 : numa_hops(node, numas.front(), nic.numa);
  for (int const numa : numas) least = std::min(least, numa_hops(node, numa, nic.numa));
  return least;
}

// The device that a program takes by cudaSetDevice(local rank modulo devices).
int counted_off(model::Node const& node, model::LocalRank const& rank, std::size_t local_rank) {
  auto const index_of = [&](model::DeviceKey const& key) {
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      bool const same =
          node.devices[i].bus_id == key.bus_id && node.devices[i].partition == key.partition;
      if (same) return static_cast<int>(i);
    }
    return -1;
  };
  if (rank.chosen) return index_of(*rank.chosen);
  if (rank.visible) {
    if (rank.visible->empty()) return -1;
    return index_of((*rank.visible)[local_rank % rank.visible->size()]);
  }
  return node.devices.empty() ? -1 : static_cast<int>(local_rank % node.devices.size());
}

}  // namespace

double cost_of(model::Node const& node, Seat const& seat, std::vector<UsableCore> const& cores,
               NicChoice const& choice) {
  double cost = 0;
  if (seat.device >= 0) {
    cost += 40 * hops_to_device(node, cores, node.devices[static_cast<std::size_t>(seat.device)]);
  }
  if (choice.nics.empty()) return cost;
  model::Nic const& nic = node.nics[static_cast<std::size_t>(choice.nics.front())];
  if (!nic.fabric) return cost;
  if (seat.device >= 0) cost += 100 * path_weight(choice.path);
  return cost + 20 * hops_to_card(node, seat.numas, nic) + 10 * choice.load;
}

std::optional<double> cost_of_launcher(CoreMap const& cores,
                                       std::vector<model::LocalRank> const& ranks,
                                       model::Policy const& policy) {
  model::Node const& node = cores.node();
  model::PuSet const allowed = allowed_pus(cores);
  bool const any = std::any_of(ranks.begin(), ranks.end(), [&](model::LocalRank const& rank) {
    return is_bound(rank.affinity, allowed);
  });
  if (!any) return std::nullopt;
  std::vector<std::vector<UsableCore>> held;
  std::vector<Seat> seats;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    bool const bound = is_bound(ranks[i].affinity, allowed);
    held.push_back(cores.cores(bound ? intersection(ranks[i].affinity, allowed) : allowed, true));
    int const device = policy.use_devices ? counted_off(node, ranks[i], i) : -1;
    seats.push_back({device, numas_of(node, held.back())});
  }
  auto const nics = choose_nics(node, seats);
  double cost = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    cost += cost_of(node, seats[i], held[i], nics[i]);
  }
  return cost;
}

}  // namespace berth::place
