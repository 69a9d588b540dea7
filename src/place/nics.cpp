// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include <place/nics.hpp>

namespace berth::place {
namespace {

constexpr std::size_t most_nics = 8;

std::vector<int> candidates(model::Node const& node) {
  bool const fabric = std::any_of(node.nics.begin(), node.nics.end(),
                                  [](model::Nic const& nic) { return nic.fabric; });
  std::vector<int> found;
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    if (node.nics[i].fabric == fabric) found.push_back(static_cast<int>(i));
  }
  return found;
}

Path path_from(model::Node const& node, Seat const& seat, model::Nic const& nic) {
  if (seat.device >= 0) {
    return path_between(node, node.devices[static_cast<std::size_t>(seat.device)], nic);
  }
  Path best = path_from_numa(node, -1, nic);
  for (std::size_t i = 0; i < seat.numas.size(); ++i) {
    Path const path = path_from_numa(node, seat.numas[i], nic);
    if (i == 0 || path_weight(path) < path_weight(best)) best = path;
  }
  return best;
}

/// Chooses for all seats, one card per seat and round.
class Dealer {
 public:
  Dealer(model::Node const& node, std::vector<Seat> const& seats)
      : node_(node), seats_(seats), candidates_(candidates(node)), load_(node.nics.size(), 0) {}

  std::vector<NicChoice> deal() {
    std::vector<NicChoice> choices(seats_.size());
    for (std::size_t i = 0; i < seats_.size(); ++i) first(seats_[i], choices[i]);
    // Several cards per rank make sense only where a fabric has them.
    for (std::size_t round = 1; round < most_nics; ++round) {
      bool any = false;
      for (std::size_t i = 0; i < seats_.size(); ++i) any |= further(seats_[i], choices[i]);
      if (!any) break;
    }
    return choices;
  }

 private:
  model::Nic const& nic(int index) const { return node_.nics[static_cast<std::size_t>(index)]; }
  int& load(int index) { return load_[static_cast<std::size_t>(index)]; }

  void first(Seat const& seat, NicChoice& choice) {
    auto const key = [&](int index) {
      return std::tuple(path_weight(path_from(node_, seat, nic(index))), -nic(index).gbps,
                        load(index), index);
    };
    auto const best = std::min_element(candidates_.begin(), candidates_.end(),
                                       [&](int a, int b) { return key(a) < key(b); });
    if (best == candidates_.end()) return;
    choice.nics = {*best};
    choice.path = path_from(node_, seat, nic(*best));
    choice.load = load(*best)++;
  }

  bool further(Seat const& seat, NicChoice& choice) {
    if (choice.nics.empty() || !nic(choice.nics.front()).fabric) return false;
    for (int const index : candidates_) {
      bool const equal = load(index) == 0 && nic(index).gbps == nic(choice.nics.front()).gbps &&
                         path_from(node_, seat, nic(index)) == choice.path;
      if (!equal) continue;
      choice.nics.push_back(index);
      ++load(index);
      return true;
    }
    return false;
  }

  model::Node const& node_;
  std::vector<Seat> const& seats_;
  std::vector<int> candidates_;
  std::vector<int> load_;
};

}  // namespace

std::vector<NicChoice> choose_nics(model::Node const& node, std::vector<Seat> const& seats) {
  return Dealer(node, seats).deal();
}

}  // namespace berth::place
