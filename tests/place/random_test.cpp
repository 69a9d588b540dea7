// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <place/place.hpp>

#include "machines.hpp"
#include "rules.hpp"

namespace berth {
namespace {

/// Makes machines and jobs that no vendor and no user would think of.
class Imagination {
 public:
  explicit Imagination(unsigned seed) : random_(seed) {}

  int number(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }

  model::Node machine() {
    model::Node node = test::machine(
        {number(1, 4), number(1, 4), chance(30) ? number(1, 3) : number(1, 12), number(1, 4)});
    add_caches(node);
    if (chance(15)) add_kinds(node);
    if (chance(30)) add_distances(node);
    if (chance(15)) add_special_memory(node);
    if (chance(10)) forget_memory(node);
    add_devices(node);
    add_cards(node);
    if (chance(40)) restrict(node);
    return node;
  }

  std::vector<model::LocalRank> job(model::Node const& node) {
    auto const devices = static_cast<int>(node.devices.size());
    int count = number(1, 2 * devices + 3);
    if (chance(10)) count = number(1, 80);
    auto ranks = test::ranks(node, count);
    int const style = number(0, 9);
    for (auto& rank : ranks) {
      rank.rank = 3 * rank.rank + 1;
      rank.binding_asked = style % 2 == 0;
      if (style == 1) rank.affinity.clear();
      if (style == 2 || style == 3) rank.affinity = core_of(node, number(0, 1 << 20));
      if (style == 4 || style == 5) rank.affinity = numa_of(node, number(0, 1 << 20));
      if (style == 6) rank.affinity = some(node.allowed, 30);
    }
    if (style == 7) {
      model::PuSet const common = some(node.allowed, 50);
      for (auto& rank : ranks) rank.affinity = common;
    }
    if (devices > 0) restrict_devices(node, ranks);
    return ranks;
  }

  model::Policy policy() {
    model::Policy policy;
    policy.smt = chance(70);
    policy.use_devices = chance(85);
    policy.fill = chance(30);
    policy.binding = static_cast<model::Binding>(chance(50) ? 0 : number(1, 2));
    return policy;
  }

 private:
  int numa_index(model::Node const& node) {
    int index = number(0, static_cast<int>(node.numa_nodes.size()) - 1);
    while (node.numa_nodes[static_cast<std::size_t>(index)].pus.empty()) --index;
    return index;
  }
  model::PuSet some(model::PuSet const& from, int percent) {
    model::PuSet chosen;
    for (int const pu : from) {
      if (chance(percent)) chosen.push_back(pu);
    }
    if (chosen.empty()) chosen.push_back(from[from.size() / 2]);
    return chosen;
  }
  static model::PuSet core_of(model::Node const& node, int index) {
    return node.cores[static_cast<std::size_t>(index) % node.cores.size()].pus;
  }
  static model::PuSet numa_of(model::Node const& node, int index) {
    auto const at = static_cast<std::size_t>(index) % node.numa_nodes.size();
    auto const& pus = node.numa_nodes[at].pus;
    return pus.empty() ? node.numa_nodes.front().pus : pus;
  }
  void add_caches(model::Node& node) {
    int const size = number(0, 8);
    for (std::size_t i = 0; i < node.cores.size() && size > 0; ++i) {
      bool const fresh =
          i == 0 || node.cores[i].numa != node.cores[i - 1].numa || chance(100 / size);
      node.cores[i].l3 = (i == 0 ? -1 : node.cores[i - 1].l3) + (fresh ? 1 : 0);
    }
  }
  void add_kinds(model::Node& node) {
    for (auto& core : node.cores) core.kind = chance(50) ? 1 : 0;
  }
  void add_distances(model::Node& node) {
    std::size_t const nodes = node.numa_nodes.size();
    node.numa_distance.assign(nodes, std::vector<double>(nodes, 0));
    for (std::size_t i = 0; i < nodes; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        node.numa_distance[i][j] = node.numa_distance[j][i] = number(1, 25) / 10.0;
      }
    }
  }
  // Comes after the distances, which then do not know it: that must do no harm.
  void add_special_memory(model::Node& node) {
    model::NumaNode special = node.numa_nodes.back();
    special.os_index = 100;
    special.subtype = chance(50) ? "MCDRAM" : "GPUMemory";
    if (special.subtype == "GPUMemory") special.pus.clear();
    node.numa_nodes.push_back(special);
  }
  void forget_memory(model::Node& node) {
    for (auto& numa : node.numa_nodes) {
      if (chance(40)) numa.memory_bytes = 0;
    }
  }
  void add_devices(model::Node& node) {
    int const devices = chance(20) ? 0 : number(1, 10);
    for (int i = 0; i < devices; ++i) {
      int const numa = chance(12) ? -1 : numa_index(node);
      std::string const id = fmt::format("0000:{:02x}:00.0", 16 + i);
      test::add_gpu(node, id, numa, bridges(i));
      model::Device& made = node.devices.back();
      if (numa < 0 && chance(50)) made.package = number(0, node.packages - 1);
      if (numa >= 0 && chance(25)) narrow(node, made);
      if (chance(10)) {
        node.devices.push_back(made);
        node.devices.back().partition = 1;
      }
    }
  }
  // Only one L3 group is beside it.
  void narrow(model::Node const& node, model::Device& device) {
    model::PuSet pus;
    int cache = -2;
    for (auto const& core : node.cores) {
      if (core.numa != device.numa) continue;
      if (cache == -2 || chance(20)) cache = core.l3;
      if (core.l3 == cache) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
    }
    std::sort(pus.begin(), pus.end());
    device.local_pus = pus;
  }
  std::vector<std::string> bridges(int group) {
    switch (number(0, 3)) {
      case 0:
        return {};
      case 1:
        return {fmt::format("host0000:{:02x}", group % 3)};
      case 2:
        return {fmt::format("0000:8{}:00.0", group % 4), fmt::format("host0000:{:02x}", group % 3)};
      default:
        return {fmt::format("0000:9{}:0{}.0", group % 4, number(0, 9)),
                fmt::format("0000:9{}:00.0", group % 4), fmt::format("0000:8{}:00.0", group % 4),
                fmt::format("host0000:{:02x}", group % 3)};
    }
  }
  void add_cards(model::Node& node) {
    int const cards = chance(15) ? 0 : number(1, 12);
    for (int i = 0; i < cards; ++i) {
      int const numa = chance(10) ? -1 : numa_index(node);
      test::add_nic(node, fmt::format("mlx5_{}", i), numa, bridges(i), 100 * number(0, 2));
      node.nics.back().fabric = chance(85);
    }
  }
  void restrict(model::Node& node) {
    node.allowed = chance(50) ? some(node.allowed, number(5, 90)) : numa_of(node, number(0, 99));
  }
  void restrict_devices(model::Node const& node, std::vector<model::LocalRank>& ranks) {
    int const style = number(0, 9);
    auto const key = [&](int i) {
      auto const& device = node.devices[static_cast<std::size_t>(i) % node.devices.size()];
      return model::DeviceKey{device.bus_id, device.partition};
    };
    int i = 0;
    for (auto& rank : ranks) {
      if (style == 0) rank.visible = {key(i)};
      if (style == 1) rank.visible = {key(i), key(i + 1)};
      if (style == 2) rank.visible = {key(number(0, 99))};
      if (style == 3 && chance(50)) rank.visible = {key(number(0, 99)), key(number(0, 99))};
      if (style == 4 && chance(20)) rank.visible = std::vector<model::DeviceKey>{};
      if (style == 5 && chance(30)) rank.chosen = key(i);
      if (style == 6) rank.visible = {key(0), key(1), key(2)};
      if (style == 7 && i < 2) rank.visible = {key(0)};
      ++i;
    }
  }

  std::mt19937 random_;
};

// Can every rank have a device of its own that it sees? By Kuhn's search, device by rank.
class Assignment {
 public:
  Assignment(model::Node const& node, std::vector<model::LocalRank> const& ranks) {
    for (auto const& rank : ranks) {
      if (rank.visible && rank.visible->empty() && !rank.chosen) continue;
      std::set<std::size_t> sees;
      for (std::size_t i = 0; i < node.devices.size(); ++i) {
        model::DeviceKey const key{node.devices[i].bus_id, node.devices[i].partition};
        bool const visible = !rank.visible || std::find(rank.visible->begin(), rank.visible->end(),
                                                        key) != rank.visible->end();
        if (rank.chosen ? *rank.chosen == key : visible) sees.insert(i);
      }
      all_.insert(sees.begin(), sees.end());
      sees_.push_back(sees);
    }
  }
  [[nodiscard]] bool are_enough() const { return sees_.size() <= all_.size(); }
  bool is_possible() {
    for (std::size_t rank = 0; rank < sees_.size(); ++rank) {
      std::set<std::size_t> tried;
      if (!find(rank, tried)) return false;
    }
    return true;
  }

 private:
  bool find(std::size_t rank, std::set<std::size_t>& tried) {
    for (std::size_t const device : sees_[rank]) {
      if (!tried.insert(device).second) continue;
      auto const at = owner_.find(device);
      if (at == owner_.end() || find(at->second, tried)) {
        owner_[device] = rank;
        return true;
      }
    }
    return false;
  }
  std::vector<std::set<std::size_t>> sees_;
  std::set<std::size_t> all_;
  std::map<std::size_t, std::size_t> owner_;
};

TEST(RandomPlans, KeepAllRules) {
  constexpr unsigned cases = 2000;
  int refused = 0;
  int failures = 0;
  for (unsigned seed = 0; seed < cases && failures < 5; ++seed) {
    Imagination imagination(seed);
    model::Node const node = imagination.machine();
    auto const ranks = imagination.job(node);
    auto const policy = imagination.policy();
    try {
      auto const plan = place::plan_node(node, ranks, policy);
      auto const wrong = test::violations(node, ranks, policy, plan);
      failures += wrong.empty() ? 0 : 1;
      EXPECT_THAT(wrong, testing::IsEmpty())
          << "seed " << seed << ", " << ranks.size() << " ranks, " << test::words(policy);
    } catch (Error const& error) {
      ++refused;
      Assignment assignment(node, ranks);
      EXPECT_EQ(error.code(), Errc::no_device) << error.what();
      EXPECT_TRUE(assignment.are_enough()) << "seed " << seed << ": " << error.what();
      EXPECT_FALSE(assignment.is_possible()) << "seed " << seed << ": " << error.what();
    }
  }
  // Refusals are for a few odd jobs only.
  EXPECT_LT(refused, 200);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace berth
