// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <place/cores.hpp>
#include <place/tangle.hpp>

namespace berth::place {
namespace {

using Cores = std::vector<UsableCore>;
using Cuts = std::vector<std::size_t>;  ///< ranks + 1 positions

void give(CoreShare& share, UsableCore const& core) {
  share.pus.insert(share.pus.end(), core.pus.begin(), core.pus.end());
  ++share.cores;
}

Cuts even_cuts(std::size_t cores, std::size_t ranks) {
  Cuts cuts;
  for (std::size_t j = 0; j <= ranks; ++j) cuts.push_back(j * cores / ranks);
  return cuts;
}

// Positions where another L3 group begins, with both ends.
Cuts cache_edges(model::Node const& node, Cores const& cores) {
  Cuts edges{0};
  for (std::size_t i = 1; i < cores.size(); ++i) {
    if (node.cores[cores[i].core].l3 != node.cores[cores[i - 1].core].l3) edges.push_back(i);
  }
  edges.push_back(cores.size());
  return edges;
}

// Even cuts moved to the nearest edge of an L3 group; the even ones where that is not fair.
Cuts cache_cuts(model::Node const& node, Cores const& cores, std::size_t ranks) {
  Cuts const edges = cache_edges(node, cores);
  Cuts even = even_cuts(cores.size(), ranks);
  if (edges.size() <= 2) return even;
  double const fair = static_cast<double>(cores.size()) / static_cast<double>(ranks);
  Cuts snapped{0};
  for (std::size_t j = 1; j < ranks; ++j) {
    double const wanted = fair * static_cast<double>(j);
    snapped.push_back(
        *std::min_element(edges.begin(), edges.end(), [&](std::size_t a, std::size_t b) {
          return std::abs(static_cast<double>(a) - wanted) <
                 std::abs(static_cast<double>(b) - wanted);
        }));
  }
  snapped.push_back(cores.size());
  std::size_t largest_cache = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    largest_cache = std::max(largest_cache, edges[i] - edges[i - 1]);
  }
  std::size_t least = cores.size();
  std::size_t most = 0;
  for (std::size_t j = 0; j < ranks; ++j) {
    if (snapped[j + 1] <= snapped[j]) return even;
    least = std::min(least, snapped[j + 1] - snapped[j]);
    most = std::max(most, snapped[j + 1] - snapped[j]);
  }
  bool const is_fair = static_cast<double>(least) >= 0.75 * fair && most - least <= largest_cache;
  return is_fair ? snapped : even;
}

// Whole cores of one kind, or of several: then everybody gets as many of each.
void share_whole(model::Node const& node, Cores const& cores, Domain const& domain,
                 std::vector<CoreShare>& shares) {
  std::map<int, Cores, std::greater<>> kinds;
  for (UsableCore const& core : cores) kinds[node.cores[core.core].kind].push_back(core);
  std::size_t const ranks = domain.ranks.size();
  for (auto const& [kind, own] : kinds) {
    Cuts cuts;
    if (kinds.size() == 1) {
      cuts = cache_cuts(node, own, ranks);
    } else {
      std::vector<double> had;
      for (std::size_t const rank : domain.ranks) had.push_back(shares[rank].cores);
      int const all = static_cast<int>(own.size() / ranks);
      auto const rest =
          deal_evenly(static_cast<int>(own.size() % ranks), had, std::vector<double>(ranks, 1.0));
      cuts.push_back(0);
      for (std::size_t j = 0; j < ranks; ++j) {
        cuts.push_back(cuts.back() + static_cast<std::size_t>(all + rest[j]));
      }
    }
    for (std::size_t j = 0; j < ranks; ++j) {
      for (std::size_t i = cuts[j]; i < cuts[j + 1]; ++i) give(shares[domain.ranks[j]], own[i]);
    }
  }
}

// Fewer cores than ranks, but enough threads: how many ranks come on each core.
std::vector<std::size_t> ranks_per_core(Cores const& cores, std::size_t ranks) {
  std::vector<std::size_t> count(cores.size(), 1);
  std::size_t left = ranks - cores.size();
  while (left > 0) {
    for (std::size_t i = 0; i < cores.size() && left > 0; ++i) {
      if (count[i] >= cores[i].pus.size()) continue;
      ++count[i];
      --left;
    }
  }
  return count;
}

void share_threads(Cores const& cores, Domain const& domain, std::vector<CoreShare>& shares) {
  auto const count = ranks_per_core(cores, domain.ranks.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    Cuts const cuts = even_cuts(cores[i].pus.size(), count[i]);
    for (std::size_t j = 0; j < count[i]; ++j) {
      CoreShare& share = shares[domain.ranks[next++]];
      share.pus.assign(cores[i].pus.begin() + static_cast<std::ptrdiff_t>(cuts[j]),
                       cores[i].pus.begin() + static_cast<std::ptrdiff_t>(cuts[j + 1]));
      share.cores = 1;
    }
  }
}

void share_pus(Cores const& cores, Domain const& domain, std::vector<CoreShare>& shares) {
  model::PuSet units;
  for (UsableCore const& core : cores) {
    units.insert(units.end(), core.pus.begin(), core.pus.end());
  }
  for (std::size_t j = 0; j < domain.ranks.size(); ++j) {
    CoreShare& share = shares[domain.ranks[j]];
    share.pus = {units[j * units.size() / domain.ranks.size()]};
    share.cores = 1;
  }
}

}  // namespace

std::vector<int> deal_evenly(int count, std::vector<double> had,
                             std::vector<double> const& weight) {
  std::vector<int> got(had.size(), 0);
  std::set<std::pair<double, std::size_t>> queue;
  for (std::size_t i = 0; i < had.size(); ++i) queue.emplace(had[i] / weight[i], i);
  for (int item = 0; item < count; ++item) {
    std::size_t const poorest = queue.begin()->second;
    queue.erase(queue.begin());
    ++got[poorest];
    had[poorest] += 1;
    queue.emplace(had[poorest] / weight[poorest], poorest);
  }
  return got;
}

void share_domain(CoreMap const& cores, Domain const& domain, bool smt,
                  std::vector<CoreWish> const& wishes, std::vector<CoreShare>& shares) {
  Cores const own = cores.cores(domain.pus, smt);
  std::size_t pus = 0;
  for (UsableCore const& core : own) pus += core.pus.size();
  if (domain.tangled) {
    share_tangled(cores, domain, smt, wishes, shares);
  } else if (domain.ranks.size() <= own.size()) {
    share_whole(cores.node(), own, domain, shares);
  } else if (domain.ranks.size() <= pus) {
    share_threads(own, domain, shares);
  } else {
    share_pus(own, domain, shares);
  }
  for (std::size_t const rank : domain.ranks) {
    std::sort(shares[rank].pus.begin(), shares[rank].pus.end());
    shares[rank].domain = static_cast<int>(own.size());
  }
}

}  // namespace berth::place
