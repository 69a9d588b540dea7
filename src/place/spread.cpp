// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <place/devices.hpp>
#include <place/hops.hpp>
#include <place/nics.hpp>

namespace berth::place {
namespace {

using Distance = std::pair<double, double>;  // class of the path, NUMA hops

constexpr double infinite = std::numeric_limits<double>::infinity();

Distance distance(model::Node const& node, int a, int b) {
  model::Device const& left = node.devices[static_cast<std::size_t>(a)];
  model::Device const& right = node.devices[static_cast<std::size_t>(b)];
  if (left.bus_id == right.bus_id) return {-1, 0};
  return {path_weight(path_between(node, left, right)), numa_hops(node, left.numa, right.numa)};
}

// Smaller is better: class of the best path to a fabric card, then its speed.
std::pair<double, double> best_card(model::Node const& node, int device) {
  std::pair<double, double> best{infinite, 0};
  for (int const index : candidate_nics(node)) {
    model::Nic const& nic = node.nics[static_cast<std::size_t>(index)];
    if (!nic.fabric) return {0, 0};
    Path const path = path_between(node, node.devices[static_cast<std::size_t>(device)], nic);
    best = std::min(best, {path_weight(path), -nic.gbps});
  }
  return best;
}

/// A device that may be chosen.
struct Candidate {
  int device;
  std::pair<double, double> card;
  Distance nearest{infinite, 0};  ///< to those chosen
};

// Only devices with cores of their own, where these are enough.
std::vector<int> with_cores(std::vector<Home> const& homes, std::vector<int> const& pool,
                            std::size_t count) {
  std::vector<int> good;
  std::copy_if(pool.begin(), pool.end(), std::back_inserter(good),
               [&](int device) { return !homes[static_cast<std::size_t>(device)].pus.empty(); });
  return good.size() >= count ? good : pool;
}

}  // namespace

std::vector<int> spread(model::Node const& node, std::vector<Home> const& homes,
                        std::vector<int> const& pool, std::size_t count) {
  std::vector<Candidate> left;
  for (int const device : with_cores(homes, pool, count)) {
    left.push_back({device, best_card(node, device), {infinite, 0}});
  }
  std::map<int, int> chosen_in;  // by NUMA node
  std::vector<int> chosen;
  while (chosen.size() < count) {
    auto const key = [&](Candidate const& at) {
      int const numa = node.devices[static_cast<std::size_t>(at.device)].numa;
      return std::tuple(-at.nearest.first, -at.nearest.second, chosen_in[numa], at.card, at.device);
    };
    auto const best =
        std::min_element(left.begin(), left.end(),
                         [&](Candidate const& a, Candidate const& b) { return key(a) < key(b); });
    int const device = best->device;
    left.erase(best);
    chosen.push_back(device);
    ++chosen_in[node.devices[static_cast<std::size_t>(device)].numa];
    for (Candidate& other : left) {
      other.nearest = std::min(other.nearest, distance(node, device, other.device));
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace berth::place
