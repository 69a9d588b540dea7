// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <place/domains.hpp>
#include <place/flow.hpp>
#include <place/hops.hpp>

namespace berth::place {
namespace {

/// Ranks with equal wishes.
struct Class {
  CoreWish wish;
  std::vector<std::size_t> ranks;
};

/// Units of one NUMA node, PUs or without SMT cores, that are local and allowed to the same
/// classes.
struct Atom {
  model::Core const* first = nullptr;
  model::PuSet pus;
  int units = 0;              ///< ranks that fit without sharing
  std::vector<bool> home;     ///< by class
  std::vector<bool> allowed;  ///< by class
};

std::vector<Class> classes_of(std::vector<CoreWish> const& wishes) {
  // By pointer, because there may be thousands of wishes for the same hundreds of PUs.
  auto const before = [](CoreWish const* a, CoreWish const* b) {
    if (a->device != b->device) return a->device < b->device;
    if (a->allowed != b->allowed && *a->allowed != *b->allowed) return *a->allowed < *b->allowed;
    return a->local < b->local;
  };
  std::map<CoreWish const*, std::vector<std::size_t>, decltype(before)> alike(before);
  for (std::size_t i = 0; i < wishes.size(); ++i) alike[&wishes[i]].push_back(i);
  std::vector<Class> classes;
  classes.reserve(alike.size());
  for (auto& [wish, ranks] : alike) classes.push_back({*wish, std::move(ranks)});
  return classes;
}

int units_in(CoreMap const& cores, model::PuSet const& pus, bool smt) {
  return static_cast<int>(smt ? pus.size() : cores.cores(pus, smt).size());
}

std::vector<model::PuSet> units_of(UsableCore const& core, bool smt) {
  if (!smt) return {core.pus};
  std::vector<model::PuSet> units;
  units.reserve(core.pus.size());
  for (int const pu : core.pus) units.push_back({pu});
  return units;
}

std::vector<Atom> atoms_of(CoreMap const& cores, model::PuSet const& allowed, bool smt,
                           std::vector<Class> const& classes) {
  std::map<std::tuple<int, std::vector<bool>, std::vector<bool>>, Atom> found;
  for (UsableCore const& usable : cores.cores(allowed, true)) {
    model::Core const& core = cores.node().cores[usable.core];
    for (model::PuSet const& unit : units_of(usable, smt)) {
      std::vector<bool> home;
      std::vector<bool> may;
      for (Class const& one : classes) {
        home.push_back(touches(unit, one.wish.local));
        may.push_back(touches(unit, *one.wish.allowed));
      }
      Atom& atom = found[{core.numa, home, may}];
      if (atom.first == nullptr) atom.first = &core;
      atom.home = std::move(home);
      atom.allowed = std::move(may);
      ++atom.units;
      atom.pus.insert(atom.pus.end(), unit.begin(), unit.end());
    }
  }
  std::vector<Atom> atoms;
  for (auto& [key, atom] : found) {
    std::sort(atom.pus.begin(), atom.pus.end());
    atoms.push_back(std::move(atom));
  }
  return atoms;
}

/// Finds room for ranks that have none at home.
class Mover {
 public:
  Mover(CoreMap const& cores, model::PuSet const& allowed, bool smt, std::vector<Class> classes)
      : cores_(cores),
        node_(cores.node()),
        classes_(std::move(classes)),
        atoms_(atoms_of(cores, allowed, smt, classes_)) {}

  void move(std::vector<CoreWish>& wishes) const {
    int units = 0;
    int ranks = 0;
    for (Atom const& atom : atoms_) units += atom.units;
    for (Class const& one : classes_) ranks += static_cast<int>(one.ranks.size());
    if (ranks <= units) {
      move_to_room(ranks, wishes);
    } else {
      move_homeless(wishes);
    }
  }

 private:
  [[nodiscard]] int class_vertex(std::size_t i) const { return 2 + static_cast<int>(i); }
  [[nodiscard]] int atom_vertex(std::size_t k) const {
    return 2 + static_cast<int>(classes_.size() + k);
  }
  [[nodiscard]] long long cost(std::size_t i, std::size_t k) const {
    if (atoms_[k].home[i]) return 0;
    int const index = classes_[i].wish.device;
    if (index < 0) return 1'000'000'000;
    model::Device const& device = node_.devices[static_cast<std::size_t>(index)];
    model::Core const& core = *atoms_[k].first;
    bool const away = core.package >= 0 && device.package >= 0 && core.package != device.package;
    double const hops = std::min(device_hops(node_, core, device), 1000.0);
    return std::llround((1000 + 1000 * hops + (away ? 1 : 0)) * 1'000'000.0);
  }
  // Of equally far atoms the one with most room for each.
  [[nodiscard]] long long crowd(std::size_t k) const { return 1 + 10'000 / atoms_[k].units; }

  // Enough units for all: everybody gets one, at home if possible.
  void move_to_room(int ranks, std::vector<CoreWish>& wishes) const {
    Flow flow(2 + static_cast<int>(classes_.size() + atoms_.size()));
    std::vector<std::vector<std::size_t>> edges(classes_.size());
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      auto const count = static_cast<int>(classes_[i].ranks.size());
      flow.add(0, class_vertex(i), count, 0);
      for (std::size_t k = 0; k < atoms_.size(); ++k) {
        int const room = atoms_[k].allowed[i] ? count : 0;
        edges[i].push_back(flow.add(class_vertex(i), atom_vertex(k), room, cost(i, k)));
      }
    }
    for (std::size_t k = 0; k < atoms_.size(); ++k) {
      flow.add(atom_vertex(k), 1, atoms_[k].units, 0, crowd(k));
    }
    flow.send(0, 1, ranks);
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      // Those who stay come first.
      auto rank = classes_[i].ranks.rbegin();
      for (std::size_t k = atoms_.size(); k-- > 0;) {
        if (atoms_[k].home[i]) continue;
        for (int unit = 0; unit < flow.on(edges[i][k]); ++unit) settle(*rank++, k, wishes);
      }
    }
  }

  // Too few units: sharing at home is better than sharing elsewhere; only who has none moves.
  void move_homeless(std::vector<CoreWish>& wishes) const {
    std::vector<long long> load(atoms_.size(), 0);
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (!classes_[i].wish.local.empty()) continue;
      for (std::size_t const rank : classes_[i].ranks) {
        std::size_t best = atoms_.size();
        auto const key = [&](std::size_t k) { return cost(i, k) + crowd(k) * load[k]; };
        for (std::size_t k = 0; k < atoms_.size(); ++k) {
          if (!atoms_[k].allowed[i]) continue;
          if (best == atoms_.size() || key(k) < key(best)) best = k;
        }
        ++load[best];
        settle(rank, best, wishes);
      }
    }
  }

  void settle(std::size_t rank, std::size_t k, std::vector<CoreWish>& wishes) const {
    wishes[rank].local = intersection(cores_.whole_cores(atoms_[k].pus), *wishes[rank].allowed);
  }

  CoreMap const& cores_;
  model::Node const& node_;
  std::vector<Class> classes_;
  std::vector<Atom> atoms_;
};

bool needs_moves(CoreMap const& cores, bool smt, std::vector<Class> const& classes) {
  for (Class const& one : classes) {
    if (one.wish.local.empty()) return true;
    std::size_t rivals = 0;
    for (Class const& other : classes) {
      if (touches(one.wish.local, other.wish.local)) rivals += other.ranks.size();
    }
    if (static_cast<int>(rivals) > units_in(cores, one.wish.local, smt)) return true;
  }
  return false;
}

// Takes in all domains that have a PU in common with `domain`. Their wishes narrow to what they
// had.
void absorb(std::vector<Domain>& done, Domain& domain, std::vector<CoreWish>& wishes) {
  model::PuSet const original = domain.pus;
  auto const first = std::stable_partition(
      done.begin(), done.end(), [&](Domain const& other) { return !touches(original, other.pus); });
  std::for_each(first, done.end(), [&](Domain const& other) {
    domain.pus = united(domain.pus, other.pus);
    domain.ranks.insert(domain.ranks.end(), other.ranks.begin(), other.ranks.end());
    if (other.tangled) return;
    for (std::size_t const rank : other.ranks) wishes[rank].local = other.pus;
  });
  done.erase(first, done.end());
  std::sort(domain.ranks.begin(), domain.ranks.end());
  domain.tangled = true;
}

}  // namespace

std::vector<Domain> make_domains(CoreMap const& cores, model::PuSet const& allowed, bool smt,
                                 std::vector<CoreWish>& wishes) {
  std::vector<Class> classes = classes_of(wishes);
  if (needs_moves(cores, smt, classes)) {
    Mover(cores, allowed, smt, std::move(classes)).move(wishes);
  }
  auto const before = [](model::PuSet const* a, model::PuSet const* b) { return *a < *b; };
  std::map<model::PuSet const*, std::vector<std::size_t>, decltype(before)> ranks_of(before);
  for (std::size_t i = 0; i < wishes.size(); ++i) ranks_of[&wishes[i].local].push_back(i);
  std::vector<Domain> domains;
  domains.reserve(ranks_of.size());
  for (auto& [pus, ranks] : ranks_of) domains.push_back({*pus, std::move(ranks), false});
  std::stable_sort(domains.begin(), domains.end(),
                   [](Domain const& a, Domain const& b) { return a.pus.size() < b.pus.size(); });
  std::vector<Domain> done;
  for (Domain& domain : domains) {
    model::PuSet rest = domain.pus;
    bool overlaps = false;
    for (Domain const& other : done) {
      if (!touches(domain.pus, other.pus)) continue;
      overlaps = true;
      rest = without(rest, cores.whole_cores(other.pus));
    }
    if (overlaps && cores.cores(rest, smt).size() < domain.ranks.size()) {
      absorb(done, domain, wishes);
    } else if (overlaps) {
      domain.pus = std::move(rest);
    }
    done.push_back(std::move(domain));
  }
  return done;
}

}  // namespace berth::place
