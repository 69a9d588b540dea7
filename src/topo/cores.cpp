// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bitset>
#include <memory>

#include <fmt/format.h>
#include <hwloc/cpukinds.h>

#include <base/error.hpp>
#include <base/units.hpp>
#include <topo/cores.hpp>
#include <topo/memory.hpp>

namespace berth::topo {
namespace {

int numa_of_core(model::Node const& node, model::Core const& core) {
  int const containing = numa_of(node, core.pus);
  bool const has_memory =
      containing >= 0 && node.numa_nodes[static_cast<std::size_t>(containing)].memory_bytes > 0;
  if (has_memory) return containing;
  int const other = nearest_with_memory(node, containing, core.package);
  return other >= 0 ? other : containing;
}

model::Core make_core(hwloc_topology_t topology, model::Node const& node, hwloc_obj_t object) {
  model::Core core;
  core.pus = to_pus(object->cpuset);
  core.package = package_of(topology, node, object);
  core.l3 = ancestor_index(topology, HWLOC_OBJ_L3CACHE, object);
  core.numa = numa_of_core(node, core);
  return core;
}

/// Cores of equal speed, as the firmware or the kernel groups them.
struct Kind {
  model::PuSet pus;
  double speed = 0;  ///< capacity or clock; 0: not known
  std::string type;  ///< "IntelAtom", "IntelCore"; empty elsewhere
};

std::string info_of(hwloc_info_s const* infos, unsigned count, std::string_view key) {
  for (unsigned i = 0; i < count; ++i) {
    if (infos[i].name != nullptr && key == infos[i].name && infos[i].value != nullptr) {
      return infos[i].value;
    }
  }
  return {};
}

double number_of(hwloc_info_s const* infos, unsigned count, std::string_view key) {
  auto const value = base::parse_integer(info_of(infos, count, key), 1, 1'000'000'000);
  return value ? static_cast<double>(*value) : 0.0;
}

// Slowest first; none where hwloc cannot rank them.
std::vector<Kind> ranked_kinds(hwloc_topology_t topology) {
  std::vector<Kind> kinds;
  int const count = hwloc_cpukinds_get_nr(topology, 0);
  std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> const set(hwloc_bitmap_alloc(),
                                                                      &hwloc_bitmap_free);
  for (int i = 0; i < count; ++i) {
    int efficiency = -1;
    unsigned infos = 0;
    hwloc_info_s* first = nullptr;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), set.get(), &efficiency, &infos,
                                &first, 0) != 0 ||
        efficiency < 0) {
      return {};
    }
    Kind kind;
    kind.pus = to_pus(set.get());
    kind.speed = number_of(first, infos, "LinuxCapacity");
    if (kind.speed <= 0) kind.speed = number_of(first, infos, "FrequencyMaxMHz");
    kind.type = info_of(first, infos, "CoreType");
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

// Chips of one design differ by some per cent from core to core; that is no class of its own.
void read_kinds(hwloc_topology_t topology, model::Node& node) {
  constexpr double same = 1.1;
  std::vector<Kind> const kinds = ranked_kinds(topology);
  if (kinds.size() < 2) return;
  int number = 0;
  std::size_t slowest = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    bool const comparable = kinds[i].speed > 0 && kinds[slowest].speed > 0;
    bool const equal = comparable && kinds[i].type == kinds[slowest].type &&
                       kinds[i].speed <= same * kinds[slowest].speed;
    if (i > 0 && !equal) {
      ++number;
      slowest = i;
    }
    for (model::Core& core : node.cores) {
      if (std::binary_search(kinds[i].pus.begin(), kinds[i].pus.end(), core.pus.front())) {
        core.kind = number;
      }
    }
  }
}

void check_unique(model::Node const& node) {
  auto const seen = std::make_unique<std::bitset<65536>>();
  for (model::Core const& core : node.cores) {
    for (int const pu : core.pus) {
      auto const bit = static_cast<std::size_t>(pu);
      if (seen->test(bit)) base::fail(Errc::bad_input, fmt::format("two cores claim PU {}", pu));
      seen->set(bit);
    }
  }
}

}  // namespace

void read_cores(hwloc_topology_t topology, model::Node& node) {
  // Walking the PUs finds those, too, that belong to no core (some virtual machines).
  hwloc_obj_t object = nullptr;
  hwloc_obj_t last_core = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, object)) != nullptr) {
    hwloc_obj_t const core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, object);
    if (core != nullptr && core == last_core) continue;
    last_core = core;
    model::Core made = make_core(topology, node, core != nullptr ? core : object);
    if (!made.pus.empty()) node.cores.push_back(std::move(made));
  }
  if (node.cores.empty()) base::fail(Errc::bad_input, "it has no processors");
  check_unique(node);
  read_kinds(topology, node);
}

}  // namespace berth::topo
