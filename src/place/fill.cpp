// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include <place/cores.hpp>
#include <place/hops.hpp>

namespace berth::place {
namespace {

/// A domain that can take more cores.
struct Taker {
  model::Core const* first = nullptr;  ///< its first core, for where it is
  std::vector<std::size_t> ranks;      ///< those that may get more
  double cores = 0;                    ///< that these have
};

/// Idle cores of one NUMA node.
struct Idle {
  model::Core const* first = nullptr;
  std::vector<UsableCore> cores;
};

using Distance = std::tuple<bool, double>;  // another package, hops

Distance distance(model::Node const& node, model::Core const& from, model::Core const& to) {
  return {from.package != to.package, numa_hops(node, from.numa, to.numa)};
}

std::vector<Taker> takers_of(CoreMap const& cores, std::vector<Domain> const& domains,
                             std::vector<CoreWish> const& wishes,
                             std::vector<CoreShare> const& shares) {
  std::map<std::size_t, Taker> found;  // in the order of their cores
  for (Domain const& domain : domains) {
    std::size_t const first = cores.cores(domain.pus, false).front().core;
    Taker taker{&cores.node().cores[first], {}, 0};
    for (std::size_t const rank : domain.ranks) {
      if (wishes[rank].kept) continue;
      taker.ranks.push_back(rank);
      taker.cores += shares[rank].cores;
    }
    if (!taker.ranks.empty()) found[first] = std::move(taker);
  }
  std::vector<Taker> takers;
  takers.reserve(found.size());
  for (auto& [first, taker] : found) takers.push_back(std::move(taker));
  return takers;
}

std::vector<Idle> idle_cores(CoreMap const& cores, model::PuSet const& allowed, bool smt,
                             std::vector<Domain> const& domains) {
  model::PuSet used;
  for (Domain const& domain : domains) used = united(used, domain.pus);
  std::map<int, Idle> by_numa;
  for (UsableCore& core : cores.cores(without(allowed, cores.whole_cores(used)), smt)) {
    model::Core const& at = cores.node().cores[core.core];
    Idle& idle = by_numa[at.numa];
    if (idle.first == nullptr) idle.first = &at;
    idle.cores.push_back(std::move(core));
  }
  std::vector<Idle> all;
  all.reserve(by_numa.size());
  for (auto& [numa, idle] : by_numa) all.push_back(std::move(idle));
  return all;
}

// Contiguous pieces for the ranks of a domain, so that they come out even.
void hand_out(std::vector<UsableCore> const& cores, std::size_t begin, std::size_t count,
              Taker const& taker, std::vector<CoreShare>& shares) {
  std::vector<double> had;
  for (std::size_t const rank : taker.ranks) had.push_back(shares[rank].cores);
  auto const got = deal_evenly(static_cast<int>(count), std::move(had),
                               std::vector<double>(taker.ranks.size(), 1.0));
  std::size_t next = begin;
  for (std::size_t j = 0; j < taker.ranks.size(); ++j) {
    CoreShare& share = shares[taker.ranks[j]];
    for (int i = 0; i < got[j]; ++i, ++next) {
      share.filled.insert(share.filled.end(), cores[next].pus.begin(), cores[next].pus.end());
      ++share.cores;
      ++share.filled_cores;
    }
    std::sort(share.filled.begin(), share.filled.end());
  }
}

}  // namespace

void fill_up(CoreMap const& cores, model::PuSet const& allowed, bool smt,
             std::vector<Domain> const& domains, std::vector<CoreWish> const& wishes,
             std::vector<CoreShare>& shares) {
  std::vector<Taker> takers = takers_of(cores, domains, wishes, shares);
  if (takers.empty()) return;
  model::Node const& node = cores.node();
  std::vector<std::pair<Distance, Idle>> queue;
  for (Idle& idle : idle_cores(cores, allowed, smt, domains)) {
    Distance nearest = distance(node, *idle.first, *takers.front().first);
    for (Taker const& taker : takers) {
      nearest = std::min(nearest, distance(node, *idle.first, *taker.first));
    }
    queue.emplace_back(nearest, std::move(idle));
  }
  // What is near is dealt before what is far can even out.
  std::stable_sort(queue.begin(), queue.end(),
                   [](auto const& a, auto const& b) { return a.first < b.first; });
  for (auto const& [nearest, idle] : queue) {
    std::vector<Taker*> near;
    std::vector<double> had;
    std::vector<double> weight;
    for (Taker& taker : takers) {
      if (distance(node, *idle.first, *taker.first) != nearest) continue;
      near.push_back(&taker);
      had.push_back(taker.cores);
      weight.push_back(static_cast<double>(taker.ranks.size()));
    }
    auto const got = deal_evenly(static_cast<int>(idle.cores.size()), had, weight);
    std::size_t begin = 0;
    for (std::size_t k = 0; k < near.size(); ++k) {
      auto const count = static_cast<std::size_t>(got[k]);
      hand_out(idle.cores, begin, count, *near[k], shares);
      near[k]->cores += static_cast<double>(count);
      begin += count;
    }
  }
}

}  // namespace berth::place
