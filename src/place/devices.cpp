// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include <place/devices.hpp>

namespace berth::place {
namespace {

// The devices that few ranks use: each next one where the fewest are taken already.
std::vector<int> spread(model::Node const& node, int ranks) {
  std::vector<int> chosen;
  std::vector<bool> taken(node.devices.size(), false);
  std::map<int, int> by_numa;
  std::map<int, int> by_package;
  for (int i = 0; i < ranks; ++i) {
    auto const load = [&](std::size_t at) {
      model::Device const& device = node.devices[at];
      return std::tuple(by_numa[device.numa], by_package[device.package]);
    };
    std::size_t best = node.devices.size();
    for (std::size_t at = 0; at < node.devices.size(); ++at) {
      if (taken[at]) continue;
      if (best == node.devices.size() || load(at) < load(best)) best = at;
    }
    taken[best] = true;
    ++by_numa[node.devices[best].numa];
    ++by_package[node.devices[best].package];
    chosen.push_back(static_cast<int>(best));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<int> assign_devices(model::Node const& node, int ranks) {
  auto const devices = static_cast<int>(node.devices.size());
  if (devices == 0) return std::vector<int>(static_cast<std::size_t>(ranks), -1);
  if (ranks < devices) return spread(node, ranks);
  std::vector<int> chosen;
  chosen.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    chosen.push_back(static_cast<int>(static_cast<long long>(rank) * devices / ranks));
  }
  return chosen;
}

}  // namespace berth::place
