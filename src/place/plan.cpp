// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <base/ranges.hpp>
#include <base/text.hpp>
#include <place/allowed.hpp>
#include <place/cores.hpp>
#include <place/devices.hpp>
#include <place/nics.hpp>
#include <place/place.hpp>

namespace berth::place {
namespace {

/// All that was decided, from which the placements are written.
struct Decisions {
  model::Node const& node;
  std::vector<model::LocalRank> const& ranks;
  Allowed allowed;
  std::vector<UsableCore> usable;
  std::vector<int> devices;
  std::vector<CoreShare> shares;  ///< empty when the node has no cores
  std::vector<Seat> seats;
  std::vector<NicChoice> nics;
};

// NUMA nodes of a share's cores, the one with most cores first.
std::vector<int> numas_of(std::vector<UsableCore> const& usable, CoreShare const& share) {
  std::map<int, int> count;
  for (std::size_t const core : share.cores) {
    if (usable[core].core->numa >= 0) ++count[usable[core].core->numa];
  }
  std::vector<int> numas;
  numas.reserve(count.size());
  for (auto const& [numa, cores] : count) numas.push_back(numa);
  std::stable_sort(numas.begin(), numas.end(), [&](int a, int b) { return count[a] > count[b]; });
  return numas;
}

Decisions decide(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                 model::Policy const& policy) {
  Decisions made{node, ranks, allowed_for(node, ranks), {}, {}, {}, {}, {}};
  made.usable = usable_cores(node, made.allowed.pus, policy.smt);
  made.devices = policy.use_devices ? assign_devices(node, static_cast<int>(ranks.size()))
                                    : std::vector<int>(ranks.size(), -1);
  if (!made.usable.empty()) made.shares = share_cores(node, made.usable, made.devices);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::vector<int> numas;
    if (!made.shares.empty()) numas = numas_of(made.usable, made.shares[i]);
    made.seats.push_back({made.devices[i], std::move(numas)});
  }
  made.nics = choose_nics(node, made.seats);
  return made;
}

void write_cores(Decisions const& made, std::size_t rank, Placement& placement) {
  if (made.shares.empty()) return;
  CoreShare const& share = made.shares[rank];
  model::PuSet pus;
  bool memory_is_local = true;
  for (std::size_t const index : share.cores) {
    UsableCore const& core = made.usable[index];
    pus.insert(pus.end(), core.pus.begin(), core.pus.end());
    int const numa = core.core->numa;
    memory_is_local = memory_is_local && numa >= 0 &&
                      is_within(core.pus, made.node.numa_nodes[static_cast<std::size_t>(numa)].pus);
  }
  std::sort(pus.begin(), pus.end());
  placement.cpus = base::format_ranges(pus);
  placement.cores = static_cast<int>(share.cores.size());
  for (int const numa : made.seats[rank].numas) {
    placement.memory_nodes.push_back(made.node.numa_nodes[static_cast<std::size_t>(numa)].os_index);
  }
  if (!placement.memory_nodes.empty()) placement.numa_node = placement.memory_nodes.front();
  std::sort(placement.memory_nodes.begin(), placement.memory_nodes.end());
  model::PuSet const& affinity = made.ranks[rank].affinity;
  if (share.sharers > 1) placement.flags.emplace_back("cpu-shared");
  if (share.remote) placement.flags.emplace_back("remote-cores");
  if (share.unknown) placement.flags.emplace_back("no-locality");
  if (!memory_is_local) placement.flags.emplace_back("no-local-memory");
  if (made.allowed.kept_binding) placement.flags.emplace_back("kept-launcher-binding");
  if (!affinity.empty() && !is_within(pus, affinity)) placement.flags.emplace_back("rebound");
}

void write_device(Decisions const& made, std::size_t rank, Placement& placement) {
  int const device = made.devices[rank];
  if (device < 0) return;
  placement.device = made.node.devices[static_cast<std::size_t>(device)].bus_id;
  if (std::count(made.devices.begin(), made.devices.end(), device) > 1) {
    placement.flags.emplace_back("oversubscribed-device");
  }
}

void write_nics(Decisions const& made, std::size_t rank, Placement& placement) {
  NicChoice const& choice = made.nics[rank];
  if (choice.nics.empty()) return;
  for (int const nic : choice.nics) {
    placement.nics.push_back(made.node.nics[static_cast<std::size_t>(nic)].name);
  }
  placement.nic_path = path_name(choice.path);
  bool const fabric = made.node.nics[static_cast<std::size_t>(choice.nics.front())].fabric;
  bool const far = choice.path == Path::sock || choice.path == Path::sys;
  if (fabric && far) placement.flags.emplace_back("no-near-nic");
}

// The weights are those of the cost model in docs: 100 per path class, 40 and 20 per hop from the
// cores to device and card, 10 per rank that uses the card already. Ethernet, the fallback, costs
// nothing: it is not worth moving anybody for.
double cost_of(Decisions const& made, std::size_t rank) {
  int const device = made.devices[rank];
  std::vector<int> const& numas = made.seats[rank].numas;
  int const home = numas.empty() ? -1 : numas.front();
  double cost = 0;
  if (device >= 0) {
    cost +=
        40 * numa_hops(made.node, home, made.node.devices[static_cast<std::size_t>(device)].numa);
  }
  NicChoice const& choice = made.nics[rank];
  if (choice.nics.empty()) return cost;
  model::Nic const& nic = made.node.nics[static_cast<std::size_t>(choice.nics.front())];
  if (!nic.fabric) return cost;
  if (device >= 0) cost += 100 * path_weight(choice.path);
  bool const beside = std::find(numas.begin(), numas.end(), nic.numa) != numas.end();
  if (!beside) cost += 20 * numa_hops(made.node, home, nic.numa);
  return cost + 10 * choice.load;
}

std::string cores_reason(Decisions const& made, std::size_t rank) {
  if (made.shares.empty()) return "the processors are not known";
  CoreShare const& share = made.shares[rank];
  std::string_view const kind = made.devices[rank] < 0 || share.unknown ? "allowed"
                                : share.remote                          ? "nearest allowed"
                                                                        : "local";
  std::string text = fmt::format("{} of {} {} core{}", share.cores.size(), share.domain, kind,
                                 share.domain == 1 ? "" : "s");
  if (share.sharers > 1) text += fmt::format(", shared by {} ranks", share.sharers);
  return text;
}

std::string reason_of(Decisions const& made, std::size_t rank, Placement const& placement) {
  std::vector<std::string> parts;
  int const device = made.devices[rank];
  if (device >= 0) {
    auto const sharers = std::count(made.devices.begin(), made.devices.end(), device);
    parts.push_back(fmt::format("device {} of {} by bus id{}", device, made.node.devices.size(),
                                sharers > 1 ? fmt::format(", shared by {} ranks", sharers) : ""));
  }
  parts.push_back(cores_reason(made, rank));
  NicChoice const& choice = made.nics[rank];
  if (!choice.nics.empty()) {
    parts.push_back(fmt::format("{} {}", placement.nics.front(), path_words(choice.path)));
  }
  return base::join(parts, "; ");
}

}  // namespace

model::NodePlan plan_node(model::Node const& node, std::vector<model::LocalRank> const& ranks,
                          model::Policy const& policy) {
  Decisions const made = decide(node, ranks, policy);
  model::NodePlan plan;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Placement placement;
    placement.local_rank = static_cast<int>(i);
    placement.local_size = static_cast<int>(ranks.size());
    write_device(made, i, placement);
    write_cores(made, i, placement);
    write_nics(made, i, placement);
    placement.cost = cost_of(made, i);
    placement.reason = reason_of(made, i, placement);
    plan.cost += placement.cost;
    plan.placements.push_back(std::move(placement));
  }
  return plan;
}

}  // namespace berth::place
