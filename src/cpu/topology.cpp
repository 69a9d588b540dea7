// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <base/error.hpp>
#include <cpu/topology.hpp>

namespace berth::cpu {

Topology::Topology(std::vector<Place> const& places) : places_(places) {
  auto const refuse = [] {
    base::fail(Errc::internal, "cpu: host or local indices are not dense");
  };
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].host < 0 || places[rank].local < 0) refuse();
    auto const host = static_cast<std::size_t>(places[rank].host);
    auto const local = static_cast<std::size_t>(places[rank].local);
    if (host >= places.size() || local >= places.size()) refuse();
    if (ranks_.size() <= host) ranks_.resize(host + 1);
    if (ranks_[host].size() <= local) ranks_[host].resize(local + 1, -1);
    ranks_[host][local] = static_cast<int>(rank);
  }
  std::size_t found = 0;
  lanes_ = size();
  for (std::vector<int> const& host : ranks_) {
    if (host.empty() || std::find(host.begin(), host.end(), -1) != host.end()) refuse();
    found += host.size();
    lanes_ = std::min(lanes_, static_cast<int>(host.size()));
    fullest_ = std::max(fullest_, static_cast<int>(host.size()));
  }
  if (found != places.size()) refuse();
}

Topology Topology::one_host(int ranks) {
  std::vector<Place> places(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) places[static_cast<std::size_t>(rank)].local = rank;
  return Topology(places);
}

}  // namespace berth::cpu
