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

/// Cores of one NUMA node that are local to the same classes.
struct Atom {
  model::Core const* first = nullptr;
  model::PuSet pus;
  int units = 0;           ///< ranks that fit without sharing
  std::vector<bool> home;  ///< by class
};

std::vector<Class> classes_of(std::vector<CoreWish> const& wishes) {
  std::map<std::tuple<model::PuSet, int, bool>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    CoreWish const& wish = wishes[i];
    // Only those who may have to leave care for where their device is.
    alike[{wish.local, wish.movable ? wish.device : -1, wish.movable}].push_back(i);
  }
  std::vector<Class> classes;
  classes.reserve(alike.size());
  for (auto& [key, ranks] : alike) classes.push_back({wishes[ranks.front()], std::move(ranks)});
  return classes;
}

int units_in(CoreMap const& cores, model::PuSet const& pus, bool smt) {
  return static_cast<int>(smt ? pus.size() : cores.cores(pus, smt).size());
}

std::vector<Atom> atoms_of(CoreMap const& cores, model::PuSet const& allowed, bool smt,
                           std::vector<Class> const& classes) {
  std::map<std::pair<int, std::vector<bool>>, Atom> found;
  for (UsableCore const& usable : cores.cores(allowed, true)) {
    std::vector<bool> home;
    home.reserve(classes.size());
    for (Class const& one : classes) home.push_back(touches(usable.pus, one.wish.local));
    model::Core const& core = cores.node().cores[usable.core];
    Atom& atom = found[{core.numa, home}];
    if (atom.first == nullptr) atom.first = &core;
    atom.home = home;
    atom.units += smt ? static_cast<int>(usable.pus.size()) : 1;
    atom.pus.insert(atom.pus.end(), usable.pus.begin(), usable.pus.end());
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
      : node_(cores.node()),
        classes_(std::move(classes)),
        atoms_(atoms_of(cores, allowed, smt, classes_)) {
    int units = 0;
    for (Atom const& atom : atoms_) units += atom.units;
    for (Class const& one : classes_) ranks_ += static_cast<int>(one.ranks.size());
    crowded_ = ranks_ > units;
  }

  void move(std::vector<CoreWish>& wishes) const {
    Flow flow(2 + static_cast<int>(classes_.size() + atoms_.size()));
    std::vector<std::vector<std::size_t>> edges(classes_.size());
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      auto const count = static_cast<int>(classes_[i].ranks.size());
      flow.add(0, class_vertex(i), count, 0);
      for (std::size_t k = 0; k < atoms_.size(); ++k) {
        int const room = may_use(i, k) ? count : 0;
        edges[i].push_back(flow.add(class_vertex(i), atom_vertex(k), room, cost(i, k)));
      }
    }
    for (std::size_t k = 0; k < atoms_.size(); ++k) {
      // Of equally far ones that with most room for each.
      flow.add(atom_vertex(k), 1, crowded_ ? ranks_ : atoms_[k].units, 0,
               1 + 10'000 / atoms_[k].units);
    }
    flow.send(0, 1, ranks_);
    for (std::size_t i = 0; i < classes_.size(); ++i) apply(i, flow, edges[i], wishes);
  }

 private:
  [[nodiscard]] int class_vertex(std::size_t i) const { return 2 + static_cast<int>(i); }
  [[nodiscard]] int atom_vertex(std::size_t k) const {
    return 2 + static_cast<int>(classes_.size() + k);
  }
  // Where there are fewer PUs than ranks, sharing at home is better than sharing elsewhere.
  [[nodiscard]] bool may_use(std::size_t i, std::size_t k) const {
    CoreWish const& wish = classes_[i].wish;
    if (atoms_[k].home[i]) return true;
    return wish.movable && (wish.local.empty() || !crowded_);
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
  // Those who stay come first.
  void apply(std::size_t i, Flow const& flow, std::vector<std::size_t> const& edges,
             std::vector<CoreWish>& wishes) const {
    Class const& one = classes_[i];
    auto rank = one.ranks.rbegin();
    for (std::size_t k = atoms_.size(); k-- > 0;) {
      if (atoms_[k].home[i]) continue;
      for (int unit = 0; unit < flow.on(edges[k]); ++unit) wishes[*rank++].local = atoms_[k].pus;
    }
  }

  model::Node const& node_;
  std::vector<Class> classes_;
  std::vector<Atom> atoms_;
  int ranks_ = 0;
  bool crowded_ = false;
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
  std::map<model::PuSet, std::vector<std::size_t>> ranks_of;
  for (std::size_t i = 0; i < wishes.size(); ++i) ranks_of[wishes[i].local].push_back(i);
  std::vector<Domain> domains;
  domains.reserve(ranks_of.size());
  for (auto& [pus, ranks] : ranks_of) domains.push_back({pus, std::move(ranks), false});
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
