// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <place/devices.hpp>
#include <place/flow.hpp>
#include <place/hops.hpp>

namespace berth::place {
namespace {

using Ranks = std::vector<std::size_t>;

/// Free ranks that see the same devices in the same order and are bound alike.
struct Class {
  std::vector<int> options;
  model::PuSet bound;
  Ranks ranks;
};

int index_of(model::Node const& node, model::DeviceKey const& key) {
  auto const at = std::find_if(node.devices.begin(), node.devices.end(), [&](auto const& device) {
    return device.bus_id == key.bus_id && device.partition == key.partition;
  });
  return at == node.devices.end() ? -1 : static_cast<int>(at - node.devices.begin());
}

std::vector<int> options_of(model::Node const& node, model::LocalRank const& rank) {
  std::vector<int> options;
  if (!rank.visible) {
    options.resize(node.devices.size());
    std::iota(options.begin(), options.end(), 0);
    return options;
  }
  for (auto const& key : *rank.visible) {
    int const device = index_of(node, key);
    bool const known = std::find(options.begin(), options.end(), device) != options.end();
    if (device >= 0 && !known) options.push_back(device);
  }
  return options;
}

std::vector<int> sorted(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Mean hops from the cores of a binding to the device, in thousandths; a little is added for cores
// that are in its NUMA node but not right beside it.
long long distance_to(model::Node const& node, Home const& home, model::PuSet const& bound,
                      int device) {
  if (bound.empty()) return 0;
  double hops = 0;
  int cores = 0;
  for (auto const& core : node.cores) {
    if (!touches(core.pus, bound)) continue;
    bool const beside = !home.known || touches(core.pus, home.pus);
    hops += (beside ? 0 : 0.01) +
            device_hops(node, core, node.devices[static_cast<std::size_t>(device)]);
    ++cores;
  }
  // No table of distances has more than a few; a damaged one must not overflow the costs.
  return cores == 0 ? 0 : std::llround(std::min(1000 * hops / cores, 20'000.0));
}

/// Matches ranks that see different devices, or are bound, with devices at least cost.
class Matching {
 public:
  Matching(model::Node const& node, std::vector<Home> const& homes,
           std::vector<model::LocalRank> const& ranks, std::vector<Class> const& classes,
           std::vector<int> const& taken)
      : node_(node), homes_(homes), ranks_(ranks), classes_(classes), taken_(taken) {
    for (Class const& one : classes) free_ += static_cast<int>(one.ranks.size());
    std::vector<bool> seen(node.devices.size(), false);
    auto const see = [&](std::vector<int> const& options) {
      for (int const device : options) seen[static_cast<std::size_t>(device)] = true;
    };
    for (Class const& one : classes) see(one.options);
    for (model::LocalRank const& rank : ranks) {
      if (rank.chosen) see(options_of(node, rank));
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i] || taken[i] > 0) targets_.push_back(static_cast<int>(i));
    }
  }

  void match(std::vector<DeviceChoice>& choices) {
    int const all = free_ + std::accumulate(taken_.begin(), taken_.end(), 0);
    auto const devices = static_cast<int>(targets_.size());
    bool const sharing = all > devices;
    if (attempt((all + devices - 1) / devices, !sharing) < free_ && sharing) attempt(all, false);
    for (std::size_t i = 0; i < classes_.size(); ++i) deal(i, choices);
  }

 private:
  [[nodiscard]] int class_vertex(std::size_t i) const { return 2 + static_cast<int>(i); }
  [[nodiscard]] int device_vertex(std::size_t target) const {
    return 2 + static_cast<int>(classes_.size() + target);
  }

  // Distance before load before the rank's own order before the order of ranks and devices.
  [[nodiscard]] long long cost(Class const& one, std::size_t option, std::size_t target) const {
    double const wanted = static_cast<double>(one.ranks.front() * targets_.size()) /
                          static_cast<double>(ranks_.size());
    double const off = std::floor(wanted) - static_cast<double>(target);
    return distance_to(node_, homes_[static_cast<std::size_t>(one.options[option])], one.bound,
                       one.options[option]) *
               1'000'000'000'000 +
           static_cast<long long>(option) * 10'000 + std::llround(std::min(off * off, 9999.0));
  }

  // Every device takes `capacity` ranks. Returns how many have one.
  int attempt(int capacity, bool all_or_error) {
    Flow flow(2 + static_cast<int>(classes_.size() + targets_.size()));
    edges_.assign(classes_.size(), {});
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      Class const& one = classes_[i];
      flow.add(0, class_vertex(i), static_cast<int>(one.ranks.size()), 0);
      for (std::size_t option = 0; option < one.options.size(); ++option) {
        auto const at = std::find(targets_.begin(), targets_.end(), one.options[option]);
        auto const target = static_cast<std::size_t>(at - targets_.begin());
        edges_[i].emplace_back(one.options[option], flow.add(class_vertex(i), device_vertex(target),
                                                             static_cast<int>(one.ranks.size()),
                                                             cost(one, option, target)));
      }
    }
    for (std::size_t target = 0; target < targets_.size(); ++target) {
      int const taken = taken_[static_cast<std::size_t>(targets_[target])];
      constexpr long long load = 1'000'000'000;
      flow.add(device_vertex(target), 1, std::max(0, capacity - taken), load * taken, load);
    }
    int const sent = flow.send(0, 1, free_);
    if (all_or_error && sent < free_) fail_collision(flow);
    units_.assign(classes_.size(), {});
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      for (auto const& [device, edge] : edges_[i]) units_[i].emplace_back(device, flow.on(edge));
    }
    return sent;
  }

  [[noreturn]] void fail_collision(Flow const& flow) const {
    std::vector<bool> const contested = flow.reachable(0);
    std::vector<int> ranks;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (!contested[static_cast<std::size_t>(class_vertex(i))]) continue;
      for (std::size_t const rank : classes_[i].ranks) ranks.push_back(ranks_[rank].rank);
    }
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::string> names;
    names.reserve(ranks.size());
    for (int const rank : ranks) names.push_back(std::to_string(rank));
    std::vector<std::string> devices;
    bool set_by_others = false;
    for (std::size_t target = 0; target < targets_.size(); ++target) {
      if (!contested[static_cast<std::size_t>(device_vertex(target))]) continue;
      auto const device = static_cast<std::size_t>(targets_[target]);
      devices.push_back(node_.devices[device].bus_id);
      set_by_others = set_by_others || taken_[device] > 0;
    }
    base::fail(
        Errc::no_device,
        fmt::format("{} {} {} only {} device{} on {} ({}){}, while others have devices to "
                    "spare; give every rank its own device or all ranks the same list",
                    ranks.size() == 1 ? "rank" : "ranks", base::join(names, ", "),
                    ranks.size() == 1 ? "sees" : "see", devices.size(),
                    devices.size() == 1 ? "" : "s", node_.host.empty() ? "this host" : node_.host,
                    base::join(devices, ", "), set_by_others ? ", set by other ranks already" : ""),
        ranks.front());
  }

  // The ranks of a class take its devices in order.
  void deal(std::size_t i, std::vector<DeviceChoice>& choices) {
    Class const& one = classes_[i];
    std::sort(units_[i].begin(), units_[i].end());
    auto rank = one.ranks.begin();
    for (auto const& [device, units] : units_[i]) {
      for (int unit = 0; unit < units && rank != one.ranks.end(); ++unit, ++rank) {
        choices[*rank].device = device;
        choices[*rank].why = one.options.size() == 1 ? DeviceWhy::only_one
                             : one.bound.empty()     ? DeviceWhy::visible
                                                     : DeviceWhy::near_cores;
      }
    }
  }

  model::Node const& node_;
  std::vector<Home> const& homes_;
  std::vector<model::LocalRank> const& ranks_;
  std::vector<Class> const& classes_;
  std::vector<int> const& taken_;  ///< ranks that have set each device already
  std::vector<int> targets_;       ///< devices in question, ascending
  int free_ = 0;
  std::vector<std::vector<std::pair<int, std::size_t>>> edges_;  ///< per class: device, edge
  std::vector<std::vector<std::pair<int, int>>> units_;          ///< per class: device, ranks
};

// All free ranks see the same devices and none is bound: the order of both decides.
void choose_in_order(model::Node const& node, std::vector<Home> const& homes,
                     std::vector<int> const& pool, Ranks const& free,
                     std::vector<DeviceChoice>& choices) {
  DeviceWhy why = DeviceWhy::order;
  std::vector<int> devices = pool;
  if (free.size() < pool.size()) {
    why = free.size() == 1 ? DeviceWhy::best_path : DeviceWhy::spread;
    devices = spread(node, homes, pool, free.size());
  } else if (free.size() > pool.size()) {
    why = DeviceWhy::block;
  }
  if (pool.size() == 1 && node.devices.size() > 1) why = DeviceWhy::only_one;
  for (std::size_t i = 0; i < free.size(); ++i) {
    choices[free[i]].device = devices[i * devices.size() / free.size()];
    choices[free[i]].why = why;
  }
}

void count_sharers(std::vector<DeviceChoice>& choices) {
  std::map<int, int> ranks_on;
  for (auto const& choice : choices) ++ranks_on[choice.device];
  for (auto& choice : choices) choice.sharers = choice.device < 0 ? 0 : ranks_on[choice.device];
}

}  // namespace

std::vector<DeviceChoice> choose_devices(model::Node const& node, std::vector<Home> const& homes,
                                         std::vector<model::LocalRank> const& ranks,
                                         Bindings const& bindings) {
  std::vector<DeviceChoice> choices(ranks.size());
  if (node.devices.empty()) return choices;
  std::vector<int> taken(node.devices.size(), 0);
  std::map<std::pair<std::vector<int>, model::PuSet>, Ranks> alike;
  Ranks free;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    int const chosen = ranks[i].chosen ? index_of(node, *ranks[i].chosen) : -1;
    if (chosen >= 0) {
      choices[i] = {chosen, DeviceWhy::caller, 0};
      ++taken[static_cast<std::size_t>(chosen)];
      continue;
    }
    std::vector<int> options = options_of(node, ranks[i]);
    choices[i].why = DeviceWhy::sees_none;
    if (options.empty()) continue;
    alike[{std::move(options), bindings.bound[i]}].push_back(i);
    free.push_back(i);
  }
  std::vector<Class> classes;
  classes.reserve(alike.size());
  for (auto& [key, members] : alike) classes.push_back({key.first, key.second, members});
  if (!classes.empty()) {
    std::vector<int> const seen = sorted(classes.front().options);
    std::vector<int> pool;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(pool),
                 [&](int device) { return taken[static_cast<std::size_t>(device)] == 0; });
    bool const same = std::all_of(classes.begin(), classes.end(), [&](Class const& one) {
      return one.bound.empty() && sorted(one.options) == seen;
    });
    bool const simple = pool.size() >= free.size() || pool.size() == seen.size();
    if (same && simple) {
      choose_in_order(node, homes, pool, free, choices);
    } else {
      Matching(node, homes, ranks, classes, taken).match(choices);
    }
  }
  count_sharers(choices);
  return choices;
}

std::optional<model::Node> with_named_devices(model::Node const& node,
                                              std::vector<model::LocalRank> const& ranks) {
  std::optional<model::Node> completed;
  auto const add = [&](model::DeviceKey const& key) {
    if (index_of(completed ? *completed : node, key) >= 0) return;
    if (!completed) completed = node;
    model::Device device;
    device.bus_id = key.bus_id;
    device.partition = key.partition;
    auto const before = [](model::Device const& a, model::Device const& b) {
      return std::tie(a.bus_id, a.partition) < std::tie(b.bus_id, b.partition);
    };
    auto& devices = completed->devices;
    devices.insert(std::upper_bound(devices.begin(), devices.end(), device, before), device);
  };
  for (auto const& rank : ranks) {
    for (auto const& key : rank.visible.value_or(std::vector<model::DeviceKey>{})) add(key);
    if (rank.chosen) add(*rank.chosen);
  }
  return completed;
}

}  // namespace berth::place
