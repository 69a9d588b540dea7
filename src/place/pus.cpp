// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include <place/pus.hpp>

namespace berth::place {

model::PuSet intersection(model::PuSet const& a, model::PuSet const& b) {
  model::PuSet common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common;
}

model::PuSet united(model::PuSet const& a, model::PuSet const& b) {
  model::PuSet either;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
  return either;
}

model::PuSet without(model::PuSet const& a, model::PuSet const& b) {
  model::PuSet left;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(left));
  return left;
}

bool is_within(model::PuSet const& part, model::PuSet const& whole) {
  if (part.size() > whole.size()) return false;
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

bool touches(model::PuSet const& a, model::PuSet const& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left == *right) return true;
    *left < *right ? ++left : ++right;
  }
  return false;
}

CoreMap::CoreMap(model::Node const& node) : node_(node) {
  std::vector<std::pair<int, std::size_t>> found;
  for (std::size_t core = 0; core < node.cores.size(); ++core) {
    for (int const pu : node.cores[core].pus) found.emplace_back(pu, core);
  }
  std::sort(found.begin(), found.end());
  for (auto const& [pu, core] : found) {
    if (!all_.empty() && all_.back() == pu) continue;
    all_.push_back(pu);
    core_of_.push_back(core);
  }
}

std::vector<std::size_t> CoreMap::touched(model::PuSet const& pus) const {
  std::vector<std::size_t> cores;
  auto at = all_.begin();
  for (int const pu : pus) {
    at = std::lower_bound(at, all_.end(), pu);
    if (at == all_.end()) break;
    if (*at == pu) cores.push_back(core_of_[static_cast<std::size_t>(at - all_.begin())]);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::vector<UsableCore> CoreMap::cores(model::PuSet const& pus, bool smt) const {
  std::vector<UsableCore> usable;
  for (std::size_t const core : touched(pus)) {
    model::PuSet own = intersection(node_.cores[core].pus, pus);
    if (own.empty()) continue;
    if (!smt) own.erase(own.begin() + 1, own.end());
    usable.push_back({core, std::move(own)});
  }
  return usable;
}

model::PuSet CoreMap::whole_cores(model::PuSet const& pus) const {
  model::PuSet whole;
  for (std::size_t const core : touched(pus)) {
    model::PuSet const& own = node_.cores[core].pus;
    whole.insert(whole.end(), own.begin(), own.end());
  }
  std::sort(whole.begin(), whole.end());
  return whole;
}

}  // namespace berth::place
