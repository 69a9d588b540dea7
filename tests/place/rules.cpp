// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include <sys/affinity.hpp>

namespace berth::test {
namespace {

using Set = std::set<int>;

Set as_set(model::PuSet const& pus) {
  return {pus.begin(), pus.end()};
}

bool meets(Set const& a, Set const& b) {
  return std::any_of(a.begin(), a.end(), [&](int pu) { return b.count(pu) > 0; });
}

/// One plan under examination.
class Judge {
 public:
  Judge(model::Node const& node, model::NodePlan const& plan)
      : node_(node), plan_(plan), allowed_(as_set(node.allowed)) {
    for (auto const& placement : plan.placements) {
      cpus_.push_back(as_set(sys::parse_cpulist(placement.cpus)));
    }
  }

  std::vector<std::string> judge() {
    cpus_are_allowed();
    cpus_are_not_shared();
    shares_are_fair();
    cores_are_local();
    devices_are_distinct();
    memory_has_processors();
    return std::move(wrong_);
  }

 private:
  void complain(std::size_t rank, std::string_view what) {
    wrong_.push_back(fmt::format("rank {}: {} (cpus {}, device {}, {})", rank, what,
                                 plan_.placements[rank].cpus, plan_.placements[rank].device,
                                 plan_.placements[rank].reason));
  }
  bool flagged(std::size_t rank, std::string_view flag) const {
    auto const& flags = plan_.placements[rank].flags;
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
  model::Device const* device(std::size_t rank) const {
    for (auto const& device : node_.devices) {
      if (device.bus_id == plan_.placements[rank].device) return &device;
    }
    return nullptr;
  }
  // Allowed PUs beside the rank's device; all allowed without a device or its place.
  Set local(std::size_t rank) const {
    model::Device const* const own = device(rank);
    if (own == nullptr || own->numa < 0) return allowed_;
    Set found;
    for (int const pu : node_.numa_nodes[static_cast<std::size_t>(own->numa)].pus) {
      if (allowed_.count(pu) > 0) found.insert(pu);
    }
    return found;
  }
  std::size_t cores_in(Set const& pus) const {
    return static_cast<std::size_t>(
        std::count_if(node_.cores.begin(), node_.cores.end(),
                      [&](model::Core const& core) { return meets(as_set(core.pus), pus); }));
  }

  void cpus_are_allowed() {
    for (std::size_t rank = 0; rank < cpus_.size(); ++rank) {
      if (cpus_[rank].empty()) complain(rank, "has no CPU");
      for (int const pu : cpus_[rank]) {
        if (allowed_.count(pu) == 0) complain(rank, "has a CPU that is not allowed");
      }
      if (cores_in(cpus_[rank]) != static_cast<std::size_t>(plan_.placements[rank].cores)) {
        complain(rank, "has another number of cores than it says");
      }
    }
  }
  void cpus_are_not_shared() {
    for (std::size_t a = 0; a < cpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < cpus_.size(); ++b) {
        if (!meets(cpus_[a], cpus_[b])) continue;
        // Ranks that may have landed on these cores: without local ones they come from elsewhere.
        std::size_t rivals = 0;
        for (std::size_t other = 0; other < cpus_.size(); ++other) {
          Set const home = local(other);
          if (home.empty() || meets(home, cpus_[a])) ++rivals;
        }
        Set const home = local(a).empty() ? cpus_[a] : local(a);
        if (rivals <= cores_in(home)) complain(a, "shares a CPU although there are enough");
        if (!flagged(a, "cpu-shared")) complain(a, "shares a CPU without saying so");
      }
    }
  }
  void shares_are_fair() {
    std::map<Set, std::pair<int, int>> range;
    for (std::size_t rank = 0; rank < cpus_.size(); ++rank) {
      int const cores = plan_.placements[rank].cores;
      auto const [at, fresh] = range.try_emplace(local(rank), cores, cores);
      at->second.first = std::min(at->second.first, cores);
      at->second.second = std::max(at->second.second, cores);
      if (at->second.second - at->second.first > 1) complain(rank, "has an unfair share");
    }
  }
  void cores_are_local() {
    for (std::size_t rank = 0; rank < cpus_.size(); ++rank) {
      Set const home = local(rank);
      bool const inside =
          std::includes(home.begin(), home.end(), cpus_[rank].begin(), cpus_[rank].end());
      if (!home.empty() && !inside) complain(rank, "has remote cores although local ones exist");
      if (home.empty() != flagged(rank, "remote-cores")) complain(rank, "is flagged wrongly");
    }
  }
  void devices_are_distinct() {
    std::map<std::string, std::size_t> uses;
    std::map<std::string, std::size_t> partitions;
    for (auto const& device : node_.devices) ++partitions[device.bus_id];
    for (auto const& placement : plan_.placements) ++uses[placement.device];
    bool const enough = plan_.placements.size() <= node_.devices.size();
    for (std::size_t rank = 0; rank < cpus_.size(); ++rank) {
      std::string const& bus_id = plan_.placements[rank].device;
      if (node_.devices.empty() != bus_id.empty()) complain(rank, "has no device or a strange one");
      if (bus_id.empty()) continue;
      if (enough && uses[bus_id] > partitions[bus_id]) complain(rank, "shares a device");
      if (enough == flagged(rank, "oversubscribed-device") && enough) {
        complain(rank, "says that its device is shared");
      }
    }
  }
  void memory_has_processors() {
    bool const any = std::any_of(node_.numa_nodes.begin(), node_.numa_nodes.end(),
                                 [](auto const& numa) { return !numa.pus.empty(); });
    for (std::size_t rank = 0; rank < cpus_.size(); ++rank) {
      if (any && plan_.placements[rank].memory_nodes.empty()) complain(rank, "has no memory");
      for (int const os_index : plan_.placements[rank].memory_nodes) {
        auto const at = std::find_if(node_.numa_nodes.begin(), node_.numa_nodes.end(),
                                     [&](auto const& numa) { return numa.os_index == os_index; });
        bool const good = at != node_.numa_nodes.end() && !at->pus.empty() &&
                          at->subtype != "MCDRAM" && at->subtype != "GPUMemory";
        if (!good) complain(rank, "has memory without processors");
      }
    }
  }

  model::Node const& node_;
  model::NodePlan const& plan_;
  Set allowed_;
  std::vector<Set> cpus_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> violations(model::Node const& node, model::NodePlan const& plan) {
  return Judge(node, plan).judge();
}

}  // namespace berth::test
