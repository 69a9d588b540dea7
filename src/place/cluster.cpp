// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include <place/place.hpp>

namespace berth::place {
namespace {

/// A hash over values, one after the other.
class Hash {
 public:
  void add(std::uint64_t value) {
    state_ ^= value + 0x9e3779b97f4a7c15U + (state_ << 6U) + (state_ >> 2U);
  }
  void add(model::DeviceKey const& key) {
    add(std::hash<std::string>{}(key.bus_id));
    add(static_cast<std::uint64_t>(key.partition));
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

// Everything but the ranks' numbers in the communicator, which no placement depends on.
std::uint64_t hash_of(HostRequest const& host) {
  Hash hash;
  hash.add(host.node);
  for (auto const& rank : host.ranks) {
    hash.add(rank.affinity.size());
    for (int const pu : rank.affinity) hash.add(static_cast<std::uint64_t>(pu));
    hash.add(rank.binding_asked ? 1U : 0U);
    if (rank.visible) {
      for (auto const& key : *rank.visible) hash.add(key);
    }
    if (rank.chosen) hash.add(*rank.chosen);
  }
  return hash.value();
}

bool ask_the_same(HostRequest const& a, HostRequest const& b) {
  return a.node == b.node &&
         std::equal(a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(),
                    [](model::LocalRank const& left, model::LocalRank const& right) {
                      return left.binding_asked == right.binding_asked &&
                             left.affinity == right.affinity && left.visible == right.visible &&
                             left.chosen == right.chosen;
                    });
}

}  // namespace

std::vector<model::NodePlan> plan_cluster(std::vector<model::Node> const& nodes,
                                          std::vector<HostRequest> const& hosts,
                                          model::Policy const& policy) {
  std::vector<model::NodePlan> plans;
  plans.reserve(hosts.size());
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> planned;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    auto& equal = planned[hash_of(hosts[i])];
    auto const at = std::find_if(equal.begin(), equal.end(), [&](std::size_t other) {
      return ask_the_same(hosts[i], hosts[other]);
    });
    if (at != equal.end()) {
      model::NodePlan copy = plans[*at];
      plans.push_back(std::move(copy));
      continue;
    }
    plans.push_back(plan_node(nodes.at(hosts[i].node), hosts[i].ranks, policy));
    equal.push_back(i);
  }
  return plans;
}

}  // namespace berth::place
