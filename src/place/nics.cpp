// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

#include <place/flow.hpp>
#include <place/nics.hpp>

namespace berth::place {
namespace {

constexpr int most_nics = 8;

using Key = std::pair<int, std::vector<int>>;  // device, and without one the NUMA nodes

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Without leading zeros; numbers of any length compare by length, then by digits.
std::string_view number_at(std::string_view text, std::size_t& at) {
  while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
  std::size_t const begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

bool name_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      auto const left = number_at(a, i);
      auto const right = number_at(b, j);
      if (left != right) return std::tuple(left.size(), left) < std::tuple(right.size(), right);
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return std::tuple(a.size() - i, a) < std::tuple(b.size() - j, b);
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

/// Seats from which all cards are equally far.
struct Class {
  std::vector<std::size_t> seats;  ///< ascending
  Path path = Path::unk;
  std::vector<int> cards;  ///< the best by path and speed
  std::size_t offset = 0;  ///< seats before it that have the same cards: its place in step
};

/// Deals cards in rounds, one per seat and round.
class Dealer {
 public:
  Dealer(model::Node const& node, std::vector<Seat> const& seats)
      : node_(node), candidates_(candidate_nics(node)), uses_(node.nics.size(), 0) {
    std::map<Key, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < seats.size(); ++i) {
      bool const has_device = seats[i].device >= 0;
      alike[{seats[i].device, has_device ? std::vector<int>{} : seats[i].numas}].push_back(i);
    }
    for (auto& [key, members] : alike) {
      Seat const& seat = seats[members.front()];
      classes_.push_back(make_class(seat, std::move(members)));
    }
    std::sort(classes_.begin(), classes_.end(),
              [](Class const& a, Class const& b) { return a.seats.front() < b.seats.front(); });
    std::map<std::vector<int>, std::size_t> before;
    for (Class& one : classes_) {
      one.offset = before[one.cards];
      before[one.cards] += one.seats.size();
    }
  }

  std::vector<NicChoice> deal(std::size_t seats) {
    std::vector<NicChoice> choices(seats);
    if (candidates_.empty()) return choices;
    bool const fabric = node_.nics[static_cast<std::size_t>(candidates_.front())].fabric;
    // Several cards per rank make sense only where a fabric has them.
    for (int round = 0; round < (fabric ? most_nics : 1); ++round) {
      if (!deal_round(round, choices)) break;
    }
    std::map<int, int> load;
    for (NicChoice& choice : choices) choice.load = load[choice.nics.front()]++;
    for (Class const& one : classes_) {
      for (std::size_t const seat : one.seats) choices[seat].path = one.path;
    }
    return choices;
  }

 private:
  Class make_class(Seat const& seat, std::vector<std::size_t> members) const {
    Class made;
    made.seats = std::move(members);
    std::pair<double, double> best;
    for (int const card : candidates_) {
      model::Nic const& nic = node_.nics[static_cast<std::size_t>(card)];
      Path const path = path_from(node_, seat, nic);
      std::pair const key(path_weight(path), -nic.gbps);
      if (made.cards.empty() || key < best) {
        made.cards.clear();
        best = key;
        made.path = path;
      }
      if (key == best) made.cards.push_back(card);
    }
    return made;
  }

  // The first round shares cards evenly, further ones take only what nobody has.
  bool deal_round(int round, std::vector<NicChoice>& choices) {
    std::vector<int> position(node_.nics.size(), 0);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      position[static_cast<std::size_t>(candidates_[i])] = static_cast<int>(i);
    }
    auto const classes = static_cast<int>(classes_.size());
    Flow flow(2 + classes + static_cast<int>(candidates_.size()));
    std::vector<std::vector<std::pair<int, std::size_t>>> edges(classes_.size());
    int all = 0;
    for (int i = 0; i < classes; ++i) {
      Class const& one = classes_[static_cast<std::size_t>(i)];
      auto const count = static_cast<int>(one.seats.size());
      flow.add(0, 2 + i, count, 0);
      all += count;
      for (std::size_t k = 0; k < one.cards.size(); ++k) {
        int const card = one.cards[in_step(one, k)];
        if (round > 0 && uses_[static_cast<std::size_t>(card)] > 0) continue;
        int const vertex = 2 + classes + position[static_cast<std::size_t>(card)];
        edges[static_cast<std::size_t>(i)].emplace_back(
            card, flow.add(2 + i, vertex, count, static_cast<long long>(k)));
      }
    }
    constexpr long long load = 1'000'000'000;
    for (int k = 0; k < static_cast<int>(candidates_.size()); ++k) {
      flow.add(2 + classes + k, 1, round > 0 ? 1 : all, 0, load);
    }
    if (flow.send(0, 1, all) == 0) return false;
    for (std::size_t i = 0; i < classes_.size(); ++i)
      hand_out(classes_[i], edges[i], flow, choices);
    return true;
  }

  // The k-th card that a class would take if all went in step.
  static std::size_t in_step(Class const& one, std::size_t k) {
    return (one.offset + k) % one.cards.size();
  }

  // Round and round, so that neighbouring ranks have different cards.
  void hand_out(Class const& one, std::vector<std::pair<int, std::size_t>> const& edges,
                Flow const& flow, std::vector<NicChoice>& choices) {
    std::vector<std::pair<int, int>> left;
    left.reserve(edges.size());
    for (auto const& [card, edge] : edges) left.emplace_back(card, flow.on(edge));
    std::size_t next = 0;
    for (bool any = true; any;) {
      any = false;
      for (auto& [card, units] : left) {
        if (units == 0 || next == one.seats.size()) continue;
        choices[one.seats[next++]].nics.push_back(card);
        ++uses_[static_cast<std::size_t>(card)];
        --units;
        any = true;
      }
    }
  }

  model::Node const& node_;
  std::vector<int> candidates_;
  std::vector<Class> classes_;
  std::vector<int> uses_;  ///< ranks that have the card
};

}  // namespace

std::vector<int> candidate_nics(model::Node const& node) {
  bool const fabric = std::any_of(node.nics.begin(), node.nics.end(),
                                  [](model::Nic const& nic) { return nic.fabric; });
  std::vector<int> found;
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    if (node.nics[i].fabric == fabric) found.push_back(static_cast<int>(i));
  }
  std::stable_sort(found.begin(), found.end(), [&](int a, int b) {
    return name_before(node.nics[static_cast<std::size_t>(a)].name,
                       node.nics[static_cast<std::size_t>(b)].name);
  });
  return found;
}

std::vector<NicChoice> choose_nics(model::Node const& node, std::vector<Seat> const& seats) {
  return Dealer(node, seats).deal(seats.size());
}

}  // namespace berth::place
