// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "seen.hpp"

namespace berth::test {
namespace {

/// One plan under examination.
class Judge {
 public:
  Judge(model::Node const& node, std::vector<model::LocalRank> const& ranks,
        model::Policy const& policy, model::NodePlan const& plan)
      : node_(node), ranks_(ranks), policy_(policy), plan_(plan) {
    for (auto const& core : node.cores) core_pus_.push_back(as_set(core.pus));
    for (Set const& core : core_pus_) allowed_ |= core;
    if (meets(allowed_, as_set(node.allowed))) allowed_ &= as_set(node.allowed);
    if (plan.placements.size() != ranks.size()) {
      wrong_.emplace_back("another number of placements than ranks");
      return;
    }
    bool const same = std::all_of(ranks.begin(), ranks.end(), [&](auto const& rank) {
      return rank.affinity == ranks.front().affinity;
    });
    common_ = !ranks.empty() && same && flagged(0, "kept-launcher-binding");
    for (std::size_t i = 0; i < ranks.size(); ++i) berths_.push_back(berth_of(i));
  }

  std::vector<std::string> judge() {
    if (!wrong_.empty() || node_.cores.empty() || ranks_.empty()) return std::move(wrong_);
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      cpus_are_allowed(i);
      cores_are_whole(i);
      cores_are_local(i);
      binding_is_respected(i);
      device_is_visible(i);
      memory_has_processors(i);
      card_is_nearest(i);
    }
    cpus_are_not_shared();
    shares_are_fair();
    nothing_is_idle();
    devices_are_distinct();
    cards_are_not_shared();
    words_and_costs_are_right();
    return std::move(wrong_);
  }

 private:
  void complain(std::size_t rank, std::string_view what) {
    auto const& placement = plan_.placements[rank];
    std::string flags;
    for (auto const& flag : placement.flags) flags += " " + flag;
    wrong_.push_back(fmt::format("rank {}: {} (cpus {}, device {}.{}, {},{})", rank, what,
                                 placement.cpus, placement.device, placement.partition,
                                 placement.reason, flags));
  }
  [[nodiscard]] bool flagged(std::size_t rank, std::string_view flag) const {
    auto const& flags = plan_.placements[rank].flags;
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
  void expect_flag(std::size_t rank, std::string_view flag, bool expected) {
    if (flagged(rank, flag) == expected) return;
    complain(rank, fmt::format("{} {}", expected ? "lacks the flag" : "should not say", flag));
  }

  [[nodiscard]] Berth berth_of(std::size_t rank) const {
    Berth berth;
    berth.placement = &plan_.placements[rank];
    berth.cpus = as_set(berth.placement->cpus);
    berth.kept = flagged(rank, "kept-launcher-binding");
    berth.allowed = allowed_;
    if (berth.kept) berth.allowed &= as_set(ranks_[rank].affinity);
    for (auto const& device : node_.devices) {
      bool const own = device.bus_id == berth.placement->device &&
                       device.partition == berth.placement->partition;
      if (own) berth.device = &device;
    }
    berth.home = berth.allowed;
    if (berth.device == nullptr) return berth;
    auto const [known, beside] = beside_device(node_, *berth.device, berth.allowed);
    berth.known = known;
    if (known) berth.home = beside & berth.allowed;
    return berth;
  }
  [[nodiscard]] std::size_t cores_in(Set const& pus) const {
    return static_cast<std::size_t>(std::count_if(
        core_pus_.begin(), core_pus_.end(), [&](Set const& core) { return meets(core, pus); }));
  }
  // Ranks that fit on these PUs without sharing any.
  [[nodiscard]] std::size_t room_in(Set const& pus) const {
    return policy_.smt ? pus.count() : cores_in(pus);
  }
  template <class Test>
  [[nodiscard]] std::size_t count(Test const& test) const {
    return static_cast<std::size_t>(std::count_if(berths_.begin(), berths_.end(), test));
  }
  // Those who may have had to make room for each other on these PUs.
  [[nodiscard]] std::size_t rivals_for(Set const& pus) const {
    return count([&](Berth const& other) { return other.home.none() || meets(other.home, pus); });
  }
  [[nodiscard]] bool is_crowded() const { return cores_in(allowed_part()) < berths_.size(); }
  // Can everybody have a unit of his own? By Kuhn's search.
  [[nodiscard]] bool is_room_for_all(bool at_home) const {
    std::vector<Set> units;
    for (Set const& core : core_pus_) {
      Set const usable = core & allowed_part();
      if (!policy_.smt && usable.any()) units.push_back(usable);
      for (std::size_t pu = 0; policy_.smt && pu < usable.size(); ++pu) {
        if (usable.test(pu)) units.push_back(Set{}.set(pu));
      }
    }
    std::vector<int> owner(units.size(), -1);
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      std::vector<bool> tried(units.size(), false);
      if (!find_unit(static_cast<int>(i), at_home, units, tried, owner)) return false;
    }
    return true;
  }
  bool find_unit(int rank, bool at_home, std::vector<Set> const& units, std::vector<bool>& tried,
                 std::vector<int>& owner) const {
    Berth const& berth = berths_[static_cast<std::size_t>(rank)];
    Set const& wanted = at_home && berth.home.any() ? berth.home : berth.allowed;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      if (tried[unit] || !meets(units[unit], wanted)) {
        continue;
      }
      tried[unit] = true;
      if (owner[unit] < 0 || find_unit(owner[unit], at_home, units, tried, owner)) {
        owner[unit] = rank;
        return true;
      }
    }
    return false;
  }

  void cpus_are_allowed(std::size_t i) {
    Berth const& berth = berths_[i];
    if (berth.cpus.none()) complain(i, "has no CPU");
    if (!inside(berth.cpus, berth.allowed)) complain(i, "has a CPU that is not allowed");
    if (cores_in(berth.cpus) != static_cast<std::size_t>(berth.placement->cores)) {
      complain(i, "has another number of cores than it says");
    }
  }
  void cores_are_whole(std::size_t i) {
    Berth const& berth = berths_[i];
    if (flagged(i, "cpu-shared")) return;
    for (Set const& core : core_pus_) {
      Set const own = core & berth.cpus;
      if (own.none()) continue;
      Set const all = core & berth.allowed;
      if (policy_.smt && own != all) complain(i, "has a part of a core");
      if (!policy_.smt && own.count() != 1) complain(i, "has several threads of a core");
    }
  }
  void cores_are_local(std::size_t i) {
    Berth const& berth = berths_[i];
    expect_flag(i, "no-locality", berth.device != nullptr && !berth.known);
    if (flagged(i, "filled")) {
      if (!policy_.fill) complain(i, "was filled up unasked");
      if (!meets(berth.cpus, berth.home) && !flagged(i, "remote-cores")) {
        complain(i, "has only filled cores");
      }
      return;
    }
    bool const remote = berth.known && !inside(berth.cpus, berth.home);
    expect_flag(i, "remote-cores", remote);
    bool const full = berth.home.none() || rivals_for(berth.home) > room_in(berth.home);
    if (remote && !full && is_room_for_all(true))
      complain(i, "has remote cores although there is room on local ones");
  }
  void binding_is_respected(std::size_t i) {
    Set const affinity = as_set(ranks_[i].affinity);
    bool const bound = meets(affinity, allowed_) && !inside(allowed_, affinity);
    expect_flag(i, "rebound", affinity.any() && !inside(berths_[i].cpus, affinity));
    if (policy_.binding == model::Binding::rebind) expect_flag(i, "kept-launcher-binding", false);
    if (policy_.binding == model::Binding::respect) expect_flag(i, "kept-launcher-binding", bound);
    if (policy_.binding != model::Binding::automatic || !bound || berths_[i].kept) return;
    bool const defaults = std::all_of(ranks_.begin(), ranks_.end(), [&](auto const& rank) {
      return !rank.binding_asked && cores_in(as_set(rank.affinity)) == 1;
    });
    model::Device const* const device = berths_[i].device;
    Set near = allowed_;
    if (device != nullptr && device->numa >= 0) {
      near = as_set(node_.numa_nodes[static_cast<std::size_t>(device->numa)].pus);
    } else if (device != nullptr && berths_[i].known) {
      near = beside_device(node_, *device, allowed_).second;
    }
    bool const touches_node = meets(affinity & allowed_, near);
    if (!defaults && touches_node) complain(i, "lost a binding that touches its device's node");
  }
  void device_is_visible(std::size_t i) {
    Berth const& berth = berths_[i];
    model::LocalRank const& rank = ranks_[i];
    model::DeviceKey const key{berth.placement->device, berth.placement->partition};
    bool const keeps = policy_.use_devices && rank.chosen && !node_.devices.empty();
    expect_flag(i, "kept-user-device", keeps);
    if (keeps && key != *rank.chosen) complain(i, "lost the device that its caller had set");
    if (key.bus_id.empty()) {
      bool const none = !policy_.use_devices || node_.devices.empty() ||
                        (rank.visible && rank.visible->empty() && !rank.chosen);
      if (!none) complain(i, "has no device");
      return;
    }
    if (berth.device == nullptr) complain(i, "has a device that does not exist");
    bool const seen =
        !rank.visible || rank.chosen ||
        std::find(rank.visible->begin(), rank.visible->end(), key) != rank.visible->end();
    if (!seen) complain(i, "has a device that it does not see");
  }
  void memory_has_processors(std::size_t i) {
    auto const ordinary = [](model::NumaNode const& numa) {
      return !numa.pus.empty() && numa.subtype.empty() && numa.memory_bytes > 0;
    };
    bool const any = std::any_of(node_.numa_nodes.begin(), node_.numa_nodes.end(), ordinary);
    auto const& nodes = plan_.placements[i].memory_nodes;
    if (any && nodes.empty()) complain(i, "has no memory");
    for (int const os_index : nodes) {
      auto const at = std::find_if(node_.numa_nodes.begin(), node_.numa_nodes.end(),
                                   [&](auto const& numa) { return numa.os_index == os_index; });
      if (at == node_.numa_nodes.end() || at->pus.empty() || at->subtype == "GPUMemory") {
        complain(i, "has memory without processors");
      } else if (!ordinary(*at) && std::any_of(node_.numa_nodes.begin(), node_.numa_nodes.end(),
                                               [&](auto const& other) {
                                                 return ordinary(other) &&
                                                        meets(as_set(other.pus), as_set(at->pus));
                                               })) {
        complain(i, "has special memory although there is ordinary memory beside it");
      }
    }
    if (!any) return;
    Set covered;
    for (auto const& numa : node_.numa_nodes) {
      bool const own = std::find(nodes.begin(), nodes.end(), numa.os_index) != nodes.end();
      if (own) covered |= as_set(numa.pus);
    }
    if (!inside(berths_[i].cpus, covered)) expect_flag(i, "no-local-memory", true);
  }

  // What a card is worth to a rank: path class, speed; of candidates only.
  using Worth = std::pair<int, double>;
  [[nodiscard]] Worth worth(std::size_t i, model::Nic const& nic) const {
    Berth const& berth = berths_[i];
    if (berth.device != nullptr) return {path_class(*berth.device, nic), -nic.gbps};
    int best = 99;
    for (std::size_t core = 0; core < core_pus_.size(); ++core) {
      if (!meets(core_pus_[core], berth.cpus)) continue;
      int const numa = node_.cores[core].numa;
      model::Device from;
      from.numa = numa;
      if (numa >= 0) from.package = node_.numa_nodes[static_cast<std::size_t>(numa)].package;
      best = std::min(best, path_class(from, nic));
    }
    return {best, -nic.gbps};
  }
  [[nodiscard]] std::vector<model::Nic const*> candidates() const {
    bool const fabric = std::any_of(node_.nics.begin(), node_.nics.end(),
                                    [](auto const& nic) { return nic.fabric; });
    std::vector<model::Nic const*> found;
    for (auto const& nic : node_.nics) {
      if (nic.fabric == fabric) found.push_back(&nic);
    }
    return found;
  }
  void card_is_nearest(std::size_t i) {
    auto const cards = candidates();
    Placement const& placement = plan_.placements[i];
    if (cards.empty() != placement.nics.empty()) complain(i, "has no card, or one from nowhere");
    if (cards.empty() || placement.nics.empty()) return;
    Worth best{99, 0};
    for (auto const* nic : cards) best = std::min(best, worth(i, *nic));
    for (auto const& name : placement.nics) {
      auto const at = std::find_if(cards.begin(), cards.end(),
                                   [&](auto const* nic) { return nic->name == name; });
      if (at == cards.end() || worth(i, **at) != best) complain(i, "left a better card unused");
    }
    if (class_of_name(placement.nic_path) != best.first) complain(i, "names another path");
    expect_flag(i, "no-near-nic", cards.front()->fabric && (best.first == 8 || best.first == 10));
  }

  void cpus_are_not_shared() {
    std::vector<int> users(core_pus_.size(), 0);
    for (std::size_t core = 0; core < core_pus_.size(); ++core) {
      users[core] = static_cast<int>(
          count([&](Berth const& berth) { return meets(berth.cpus, core_pus_[core]); }));
    }
    for (std::size_t a = 0; a < berths_.size(); ++a) {
      Berth const& own = berths_[a];
      bool shares_core = false;
      for (std::size_t core = 0; core < core_pus_.size() && !shares_core; ++core) {
        shares_core = users[core] > 1 && meets(core_pus_[core], own.cpus);
      }
      if (shares_core && !flagged(a, "cpu-shared")) {
        complain(a, "shares a core without saying so");
      }
      if (!shares_core && flagged(a, "cpu-shared")) complain(a, "shares no core");
      for (std::size_t b = a + 1; b < berths_.size(); ++b) {
        if (!meets(own.cpus, berths_[b].cpus)) continue;
        expect_flag(a, "cpu-shared", true);
        expect_flag(b, "cpu-shared", true);
        // Bindings that are kept may crowd.
        if (!is_crowded() && is_room_for_all(false)) {
          complain(a, fmt::format("shares a CPU with rank {}", b));
        }
      }
    }
  }
  void shares_are_fair() {
    std::map<std::pair<std::string, bool>, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      if (flagged(i, "remote-cores") || flagged(i, "cpu-shared")) continue;
      // Who is kept where it was bound is not filled up.
      alike[{berths_[i].home.to_string(), berths_[i].kept}].push_back(i);
    }
    for (auto const& [home, members] : alike) {
      double least = 1e9;
      double most = 0;
      double all = 0;
      for (std::size_t const i : members) {
        double const cores = plan_.placements[i].cores;
        least = std::min(least, cores);
        most = std::max(most, cores);
        all += cores;
      }
      if (most - least <= 1) continue;
      std::map<int, int> cache;
      int largest = 0;
      for (std::size_t core = 0; core < core_pus_.size(); ++core) {
        if (node_.cores[core].l3 < 0 || !meets(core_pus_[core], berths_[members[0]].home)) continue;
        largest = std::max(largest, ++cache[node_.cores[core].l3]);
      }
      bool const fair = least >= 0.75 * all / static_cast<double>(members.size());
      if (most - least > largest || !fair) complain(members[0], "and others have unfair shares");
    }
  }
  void nothing_is_idle() {
    bool const free = std::any_of(berths_.begin(), berths_.end(),
                                  [&](Berth const& berth) { return !berth.kept || common_; });
    if (!policy_.fill || !free) return;
    Set used;
    for (Berth const& berth : berths_) used |= berth.cpus;
    for (Set const& core : core_pus_) {
      if (meets(core, allowed_part()) && !meets(core, used)) {
        complain(0, "or somebody should have an idle core");
        return;
      }
    }
  }
  [[nodiscard]] Set allowed_part() const { return common_ ? berths_[0].allowed : allowed_; }

  void devices_are_distinct() {
    std::map<std::pair<std::string, int>, std::size_t> uses;
    std::set<std::pair<std::string, int>> seen;
    std::size_t wanting = 0;
    bool chosen = false;
    bool alike = true;
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      Placement const& placement = plan_.placements[i];
      if (placement.device.empty()) continue;
      ++wanting;
      ++uses[{placement.device, placement.partition}];
      chosen = chosen || ranks_[i].chosen;
      alike = alike && ranks_[i].visible == ranks_[0].visible && !berths_[i].kept;
      if (ranks_[i].visible && !ranks_[i].chosen) {
        for (auto const& key : *ranks_[i].visible) seen.insert({key.bus_id, key.partition});
      } else {
        for (auto const& d : node_.devices) seen.insert({d.bus_id, d.partition});
      }
    }
    std::size_t least = wanting;
    std::size_t most = 0;
    for (auto const& [key, count] : uses) {
      least = std::min(least, count);
      most = std::max(most, count);
    }
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      Placement const& placement = plan_.placements[i];
      if (placement.device.empty()) continue;
      bool const shared = uses[{placement.device, placement.partition}] > 1;
      expect_flag(i, "oversubscribed-device", shared);
      if (shared && !chosen && wanting <= seen.size()) complain(i, "shares a device");
    }
    bool const uneven = most - least > 1 || (wanting > seen.size() && uses.size() < seen.size());
    if (wanting > 0 && alike && !chosen && uneven) complain(0, "and others have devices unevenly");
  }
  void cards_are_not_shared() {
    std::map<std::string, int> users;
    for (auto const& placement : plan_.placements) {
      for (auto const& name : placement.nics) ++users[name];
    }
    auto const cards = candidates();
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      auto const& nics = plan_.placements[i].nics;
      if (nics.empty() || users[nics.front()] < 2) continue;
      auto const own = std::find_if(cards.begin(), cards.end(),
                                    [&](auto const* nic) { return nic->name == nics.front(); });
      for (auto const* nic : cards) {
        if (users[nic->name] == 0 && own != cards.end() && worth(i, *nic) == worth(i, **own)) {
          complain(i, "shares a card although " + nic->name + " is idle");
        }
      }
    }
  }
  void words_and_costs_are_right() {
    static std::set<std::string> const words{
        "oversubscribed-device", "cpu-shared",       "remote-cores", "filled",
        "no-locality",           "kept-user-device", "rebound",      "kept-launcher-binding",
        "no-local-memory",       "no-near-nic"};
    double cost = 0;
    for (std::size_t i = 0; i < berths_.size(); ++i) {
      Placement const& placement = plan_.placements[i];
      cost += placement.cost;
      if (placement.cost < 0) complain(i, "costs less than nothing");
      if (placement.reason.empty()) complain(i, "has no reason");
      for (auto const& flag : placement.flags) {
        if (words.count(flag) == 0) complain(i, "has an unknown flag");
      }
    }
    if (std::abs(cost - plan_.cost) > 1e-6 * (1 + cost)) complain(0, "costs do not add up");
  }

  model::Node const& node_;
  std::vector<model::LocalRank> const& ranks_;
  model::Policy const& policy_;
  model::NodePlan const& plan_;
  std::vector<Set> core_pus_;
  Set allowed_;
  bool common_ = false;  ///< all ranks came with one restriction
  std::vector<Berth> berths_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> violations(model::Node const& node,
                                    std::vector<model::LocalRank> const& ranks,
                                    model::Policy const& policy, model::NodePlan const& plan) {
  return Judge(node, ranks, policy, plan).judge();
}

}  // namespace berth::test
