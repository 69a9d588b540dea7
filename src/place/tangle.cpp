// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <place/flow.hpp>
#include <place/tangle.hpp>

namespace berth::place {
namespace {

using Indices = std::vector<std::size_t>;

/// What one rank can get without another: a PU, or without SMT a core.
struct Unit {
  std::size_t core = 0;  ///< among the cores of the domain
  model::PuSet pus;
  Indices owners;
};

/// One tangled domain; cores and ranks are counted within it.
class Tangle {
 public:
  Tangle(std::vector<UsableCore> cores, Domain const& domain, bool smt,
         std::vector<CoreWish> const& wishes)
      : cores_(std::move(cores)), smt_(smt), owners_(cores_.size()), owned_(domain.ranks.size()) {
    for (std::size_t core = 0; core < cores_.size(); ++core) {
      if (!smt) units_.push_back({core, cores_[core].pus, {}});
      for (int const pu : smt ? cores_[core].pus : model::PuSet{}) {
        units_.push_back({core, {pu}, {}});
      }
    }
    for (std::size_t const rank : domain.ranks) {
      wishes_.push_back(&wishes[rank].local);
      Indices options;
      for (std::size_t unit = 0; unit < units_.size(); ++unit) {
        if (touches(units_[unit].pus, *wishes_.back())) options.push_back(unit);
      }
      options_.push_back(std::move(options));
    }
  }

  void deal() {
    give_first();
    Indices idle;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      if (units_[unit].owners.empty()) idle.push_back(unit);
    }
    for (std::size_t const unit : idle) give_rest(unit);
  }

  void write(std::size_t j, CoreShare& share) const {
    std::set<std::size_t> own;
    for (Unit const& unit : units_) {
      if (std::find(unit.owners.begin(), unit.owners.end(), j) == unit.owners.end()) continue;
      own.insert(unit.core);
      model::PuSet pus = intersection(unit.pus, *wishes_[j]);
      if (!smt_) pus.erase(pus.begin() + 1, pus.end());
      share.pus = united(share.pus, pus);
    }
    share.cores = static_cast<int>(own.size());
  }

 private:
  void give(std::size_t j, std::size_t unit) {
    units_[unit].owners.push_back(j);
    owners_[units_[unit].core].insert(j);
    owned_[j].insert(units_[unit].core);
  }

  void give_first() {
    Indices left;
    // With more ranks than units a matching is of no use, and would be slow for thousands.
    bool const enough = options_.size() <= units_.size();
    for (std::size_t j = 0; j < options_.size(); ++j) left.push_back(j);
    if (enough) left = match();
    for (std::size_t const j : left) {
      auto const key = [&](std::size_t unit) {
        return std::tuple(units_[unit].owners.size(), owners_[units_[unit].core].size(), unit);
      };
      give(j, *std::min_element(options_[j].begin(), options_[j].end(),
                                [&](auto a, auto b) { return key(a) < key(b); }));
    }
  }

  // A unit for each, and as few ranks as possible on a core. Returns who found none.
  Indices match() {
    auto const ranks = static_cast<int>(options_.size());
    int const first_unit = 2 + ranks;
    int const first_core = first_unit + static_cast<int>(units_.size());
    Flow flow(first_core + static_cast<int>(cores_.size()));
    std::vector<Indices> edges(options_.size());
    for (int j = 0; j < ranks; ++j) {
      flow.add(0, 2 + j, 1, 0);
      for (std::size_t const unit : options_[static_cast<std::size_t>(j)]) {
        edges[static_cast<std::size_t>(j)].push_back(
            flow.add(2 + j, first_unit + static_cast<int>(unit), 1, 0));
      }
    }
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      flow.add(first_unit + static_cast<int>(unit),
               first_core + static_cast<int>(units_[unit].core), 1, 0);
    }
    for (std::size_t core = 0; core < cores_.size(); ++core) {
      flow.add(first_core + static_cast<int>(core), 1, ranks, 0, 1);
    }
    flow.send(0, 1, ranks);
    Indices left;
    for (std::size_t j = 0; j < options_.size(); ++j) {
      bool found = false;
      for (std::size_t k = 0; k < edges[j].size() && !found; ++k) {
        found = flow.on(edges[j][k]) > 0;
        if (found) give(j, options_[j][k]);
      }
      if (!found) left.push_back(j);
    }
    return left;
  }

  // A unit that nobody has goes to an owner of its core. A core without owners goes to whom has
  // fewest cores; its further units follow.
  void give_rest(std::size_t unit) {
    std::set<std::size_t> const& owners = owners_[units_[unit].core];
    std::size_t best = options_.size();
    for (std::size_t j = 0; j < options_.size(); ++j) {
      bool const may = std::binary_search(options_[j].begin(), options_[j].end(), unit) &&
                       (owners.empty() || owners.count(j) > 0);
      if (may && (best == options_.size() || owned_[j].size() < owned_[best].size())) best = j;
    }
    if (best != options_.size()) give(best, unit);
  }

  std::vector<UsableCore> cores_;
  bool smt_;
  std::vector<Unit> units_;
  std::vector<model::PuSet const*> wishes_;    ///< by rank
  std::vector<Indices> options_;               ///< by rank: units that it may have, ascending
  std::vector<std::set<std::size_t>> owners_;  ///< by core
  std::vector<std::set<std::size_t>> owned_;   ///< by rank: cores
};

}  // namespace

void share_tangled(CoreMap const& cores, Domain const& domain, bool smt,
                   std::vector<CoreWish> const& wishes, std::vector<CoreShare>& shares) {
  // A binding may hold only second threads, so that all count here.
  Tangle tangle(cores.cores(domain.pus, true), domain, smt, wishes);
  tangle.deal();
  for (std::size_t j = 0; j < domain.ranks.size(); ++j) tangle.write(j, shares[domain.ranks[j]]);
}

}  // namespace berth::place
