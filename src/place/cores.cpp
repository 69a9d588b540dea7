// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include <place/cores.hpp>
#include <place/hops.hpp>

namespace berth::place {
namespace {

using Indices = std::vector<std::size_t>;

/// Ranks that divide the same cores.
struct Group {
  Indices cores;
  Indices ranks;
};

bool touches(model::PuSet const& a, model::PuSet const& b) {
  return !intersection(a, b).empty();
}

template <class Accept>
Indices cores_where(std::vector<UsableCore> const& usable, Accept const& accept) {
  Indices found;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (accept(usable[i])) found.push_back(i);
  }
  return found;
}

Indices all_cores(std::vector<UsableCore> const& usable) {
  Indices all(usable.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

bool has_locality(model::Node const& node, model::Device const& device) {
  return device.numa >= 0 || (device.package >= 0 && node.packages > 1);
}

Indices local_cores(model::Node const& node, std::vector<UsableCore> const& usable,
                    model::Device const& device) {
  if (device.numa >= 0) {
    model::PuSet const& pus = node.numa_nodes[static_cast<std::size_t>(device.numa)].pus;
    return cores_where(usable, [&](UsableCore const& core) { return touches(core.pus, pus); });
  }
  return cores_where(usable,
                     [&](UsableCore const& core) { return core.core->package == device.package; });
}

// The usable cores of the NUMA node that is nearest to a device with no allowed core beside it.
Indices nearest_cores(model::Node const& node, std::vector<UsableCore> const& usable,
                      model::Device const& device) {
  auto const distance = [&](UsableCore const& core) {
    bool const other_package = core.core->package != device.package;
    return std::tuple(numa_hops(node, device.numa, core.core->numa), other_package,
                      core.core->numa);
  };
  auto const best = distance(*std::min_element(
      usable.begin(), usable.end(),
      [&](UsableCore const& a, UsableCore const& b) { return distance(a) < distance(b); }));
  return cores_where(usable, [&](UsableCore const& core) { return distance(core) == best; });
}

Indices without(Indices const& from, Indices const& taken) {
  Indices left;
  std::set_difference(from.begin(), from.end(), taken.begin(), taken.end(),
                      std::back_inserter(left));
  return left;
}

// Moves the cores and ranks of all groups that share a core with `group` into it.
void absorb_overlapping(std::vector<Group>& groups, Group& group) {
  Indices const original = group.cores;
  auto const apart = [&](Group const& other) {
    return without(original, other.cores).size() == original.size();
  };
  auto const first = std::stable_partition(groups.begin(), groups.end(), apart);
  std::for_each(first, groups.end(), [&](Group const& other) {
    Indices both;
    std::set_union(group.cores.begin(), group.cores.end(), other.cores.begin(), other.cores.end(),
                   std::back_inserter(both));
    group.cores = std::move(both);
    group.ranks.insert(group.ranks.end(), other.ranks.begin(), other.ranks.end());
  });
  groups.erase(first, groups.end());
}

// Makes the groups' cores disjoint. A wide group leaves a narrow one inside it alone where enough
// is left; otherwise both become one.
std::vector<Group> separate(std::vector<Group> groups) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](Group const& a, Group const& b) { return a.cores.size() < b.cores.size(); });
  std::vector<Group> done;
  for (Group& group : groups) {
    Indices rest = group.cores;
    for (Group const& other : done) rest = without(rest, other.cores);
    if (rest.size() >= group.ranks.size()) {
      group.cores = std::move(rest);
    } else {
      absorb_overlapping(done, group);
    }
    done.push_back(std::move(group));
  }
  return done;
}

// Ranks in the order of the cores right beside their devices (an L3, say), so that contiguous
// pieces fall where they should.
void order_ranks(model::Node const& node, std::vector<UsableCore> const& usable,
                 std::vector<int> const& devices, Group& group) {
  auto const place = [&](std::size_t rank) {
    if (devices[rank] < 0) return std::tuple(std::size_t{0}, rank);
    model::PuSet const& local = node.devices[static_cast<std::size_t>(devices[rank])].local_pus;
    auto const first = std::find_if(group.cores.begin(), group.cores.end(), [&](std::size_t core) {
      return touches(usable[core].pus, local);
    });
    return std::tuple(static_cast<std::size_t>(first - group.cores.begin()), rank);
  };
  std::sort(group.ranks.begin(), group.ranks.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
}

void divide(Group const& group, std::vector<CoreShare>& shares) {
  std::size_t const cores = group.cores.size();
  std::size_t const ranks = group.ranks.size();
  for (std::size_t j = 0; j < ranks; ++j) {
    CoreShare& share = shares[group.ranks[j]];
    share.domain = cores;
    std::size_t const begin = j * cores / ranks;
    if (cores >= ranks) {
      std::size_t const end = (j + 1) * cores / ranks;
      share.cores.assign(group.cores.begin() + static_cast<std::ptrdiff_t>(begin),
                         group.cores.begin() + static_cast<std::ptrdiff_t>(end));
      continue;
    }
    share.cores = {group.cores[begin]};
    share.sharers = 0;
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other * cores / ranks == begin) ++share.sharers;
    }
  }
}

}  // namespace

std::vector<CoreShare> share_cores(model::Node const& node, std::vector<UsableCore> const& usable,
                                   std::vector<int> const& devices) {
  std::vector<CoreShare> shares(devices.size());
  std::vector<Indices> local(devices.size());  // beside the rank's device
  std::map<Indices, Indices> ranks_of;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    local[rank] = all_cores(usable);
    if (devices[rank] >= 0) {
      model::Device const& device = node.devices[static_cast<std::size_t>(devices[rank])];
      shares[rank].unknown = !has_locality(node, device);
      if (!shares[rank].unknown) local[rank] = local_cores(node, usable, device);
      if (local[rank].empty()) {
        ranks_of[nearest_cores(node, usable, device)].push_back(rank);
        continue;
      }
    }
    ranks_of[local[rank]].push_back(rank);
  }
  std::vector<Group> groups;
  groups.reserve(ranks_of.size());
  for (auto const& [cores, ranks] : ranks_of) groups.push_back({cores, ranks});
  for (Group& group : separate(std::move(groups))) {
    order_ranks(node, usable, devices, group);
    divide(group, shares);
  }
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    shares[rank].remote = !without(shares[rank].cores, local[rank]).empty();
  }
  return shares;
}

}  // namespace berth::place
