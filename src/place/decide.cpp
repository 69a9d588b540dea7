// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include <place/decide.hpp>

namespace berth::place {
namespace {

// A binding that does not touch the NUMA node of the rank's device is worth nothing.
bool keeps(model::Node const& node, model::PuSet const& bound, int device, model::Binding binding) {
  if (bound.empty() || binding == model::Binding::rebind) return false;
  if (binding == model::Binding::respect || device < 0) return true;
  model::PuSet const near = neighbourhood(node, node.devices[static_cast<std::size_t>(device)]);
  return near.empty() || touches(bound, near);
}

/// The homes of all ranks' devices, with or without a binding around them.
class RankHomes {
 public:
  RankHomes(CoreMap const& cores, Bindings const& bindings, std::vector<Home> const& homes)
      : cores_(cores), bindings_(bindings), homes_(homes), nowhere_{false, bindings.allowed} {}

  /// Inside a kept binding a device has a home of its own.
  Home const& of(std::size_t rank, Decision const& made) {
    bool const own = made.kept_binding && !bindings_.common;
    if (made.device.device < 0 && !own) return nowhere_;
    auto const device = static_cast<std::size_t>(made.device.device);
    if (!own) return homes_[device];
    model::PuSet const& bound = bindings_.bound[rank];
    if (made.device.device < 0) return own_.emplace_back(Home{false, bound});
    return own_.emplace_back(home_of(cores_, cores_.node().devices[device], bound));
  }

 private:
  CoreMap const& cores_;
  Bindings const& bindings_;
  std::vector<Home> const& homes_;
  Home nowhere_;
  std::deque<Home> own_;  // references into it stay good
};

CoreWish wish_of(Bindings const& bindings, Home const& home, std::size_t rank,
                 Decision const& made) {
  CoreWish wish;
  wish.device = made.device.device;
  wish.local = home.pus;
  wish.kept = made.kept_binding && !bindings.common;
  wish.allowed = wish.kept ? &bindings.bound[rank] : &bindings.allowed;
  if (wish.kept && wish.local.empty()) wish.local = *wish.allowed;
  return wish;
}

void count_sharers(std::vector<Decision>& made) {
  std::map<std::size_t, int> on_core;
  std::map<int, int> on_pu;
  for (Decision const& one : made) {
    for (UsableCore const& core : one.cores) {
      ++on_core[core.core];
      for (int const pu : core.pus) ++on_pu[pu];
    }
  }
  for (Decision& one : made) {
    for (UsableCore const& core : one.cores) {
      one.sharers = std::max(one.sharers, on_core[core.core]);
      for (int const pu : core.pus) one.own_threads = one.own_threads && on_pu[pu] == 1;
    }
  }
}

void decide_cores(CoreMap const& cores, Bindings const& bindings, std::vector<Home> const& homes,
                  model::Policy const& policy, std::vector<Decision>& made) {
  if (bindings.allowed.empty()) return;
  RankHomes rank_homes(cores, bindings, homes);
  std::vector<Home const*> own;
  std::vector<CoreWish> wishes;
  for (std::size_t i = 0; i < made.size(); ++i) {
    own.push_back(&rank_homes.of(i, made[i]));
    wishes.push_back(wish_of(bindings, *own.back(), i, made[i]));
  }
  std::vector<CoreShare> shares(made.size());
  auto const domains = make_domains(cores, bindings.allowed, policy.smt, wishes);
  for (Domain const& domain : domains) share_domain(cores, domain, policy.smt, wishes, shares);
  if (policy.fill) fill_up(cores, bindings.allowed, policy.smt, domains, wishes, shares);
  for (std::size_t i = 0; i < made.size(); ++i) {
    Decision& one = made[i];
    one.share = std::move(shares[i]);
    one.cores = cores.cores(united(one.share.pus, one.share.filled), true);
    one.numas = numas_of(cores.node(), one.cores);
    one.unknown = one.device.device >= 0 && !own[i]->known;
    one.remote = own[i]->known && !is_within(one.share.pus, own[i]->pus);
  }
  count_sharers(made);
}

}  // namespace

std::vector<int> numas_of(model::Node const& node, std::vector<UsableCore> const& cores) {
  std::map<int, int> count;
  for (UsableCore const& core : cores) {
    if (node.cores[core.core].numa >= 0) ++count[node.cores[core.core].numa];
  }
  std::vector<int> numas;
  numas.reserve(count.size());
  for (auto const& [numa, shared] : count) numas.push_back(numa);
  std::stable_sort(numas.begin(), numas.end(), [&](int a, int b) { return count[a] > count[b]; });
  return numas;
}

std::vector<Decision> decide(CoreMap const& cores, std::vector<model::LocalRank> const& ranks,
                             model::Policy const& policy) {
  model::Node const& node = cores.node();
  std::vector<Decision> made(ranks.size());
  Bindings const bindings = read_bindings(cores, ranks, policy);
  std::vector<Home> const homes = homes_of(cores, bindings.allowed);
  std::vector<DeviceChoice> devices(ranks.size());
  if (policy.use_devices) devices = choose_devices(node, homes, ranks, bindings);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    made[i].device = devices[i];
    made[i].kept_binding =
        bindings.common || keeps(node, bindings.bound[i], devices[i].device, policy.binding);
  }
  decide_cores(cores, bindings, homes, policy, made);
  std::vector<int> const by_numa = memory_by_numa(node);
  std::vector<Seat> seats;
  seats.reserve(made.size());
  for (Decision& one : made) {
    one.memory = choose_memory(node, by_numa, one.cores);
    seats.push_back({one.device.device, one.numas});
  }
  auto nics = choose_nics(node, seats);
  for (std::size_t i = 0; i < made.size(); ++i) made[i].nics = std::move(nics[i]);
  return made;
}

}  // namespace berth::place
