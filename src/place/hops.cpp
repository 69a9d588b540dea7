// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include <place/hops.hpp>

namespace berth::place {
namespace {

int package_of(model::Node const& node, int numa) {
  return numa >= 0 ? node.numa_nodes[static_cast<std::size_t>(numa)].package : -1;
}

bool is_host_bridge(std::string const& bridge) {
  return bridge.rfind("host", 0) == 0;
}

Path by_memory(int numa_a, int package_a, int numa_b, int package_b) {
  if (numa_a >= 0 && numa_a == numa_b) return Path::node;
  if (package_a < 0 || package_b < 0) return numa_a >= 0 && numa_b >= 0 ? Path::sys : Path::unk;
  if (package_a != package_b) return Path::sys;
  return numa_a >= 0 && numa_b >= 0 ? Path::sock : Path::unk;
}

/// One end of a path.
struct End {
  int numa;
  int package;
  std::vector<std::string> const& bridges;
};

// A device or a network card.
template <class Part>
End end_of(model::Node const& node, Part const& part) {
  int const package = part.package >= 0 ? part.package : package_of(node, part.numa);
  return {part.numa, package, part.bridges};
}

// The lowest bridge above both; absent when there is none or it proves nothing.
std::optional<Path> by_bridges(End const& a, End const& b) {
  for (std::size_t up = 0; up < a.bridges.size(); ++up) {
    auto const found = std::find(b.bridges.begin(), b.bridges.end(), a.bridges[up]);
    if (found == b.bridges.end()) continue;
    if (!is_host_bridge(*found)) {
      // A switch is two bridges deep: the port below and the port above.
      auto const other = static_cast<std::size_t>(found - b.bridges.begin());
      return std::max(up, other) <= 1 ? Path::pix : Path::pxb;
    }
    // The root bus of a virtual machine holds everything and says nothing about distance.
    if (a.numa >= 0 && a.numa == b.numa) return Path::phb;
    return std::nullopt;
  }
  return std::nullopt;
}

Path path_of(End const& a, End const& b) {
  if (auto const path = by_bridges(a, b)) return *path;
  return by_memory(a.numa, a.package, b.numa, b.package);
}

}  // namespace

double numa_hops(model::Node const& node, int from, int to) {
  if (from < 0 || to < 0 || from == to) return 0;
  auto const row = static_cast<std::size_t>(from);
  auto const column = static_cast<std::size_t>(to);
  if (row < node.numa_distance.size() && column < node.numa_distance[row].size()) {
    return node.numa_distance[row][column];
  }
  return package_of(node, from) == package_of(node, to) ? 1 : 2;
}

double device_hops(model::Node const& node, model::Core const& core, model::Device const& device) {
  if (device.numa >= 0) return numa_hops(node, core.numa, device.numa);
  bool const apart = core.package >= 0 && device.package >= 0 && core.package != device.package;
  return apart ? 2 : 0;
}

std::string_view path_name(Path path) {
  switch (path) {
    case Path::pix:
      return "PIX";
    case Path::pxb:
      return "PXB";
    case Path::phb:
      return "PHB";
    case Path::node:
      return "NODE";
    case Path::sock:
      return "SOCK";
    case Path::sys:
      return "SYS";
    case Path::unk:
      break;
  }
  return "UNK";
}

double path_weight(Path path) {
  switch (path) {
    case Path::pix:
      return 0;
    case Path::pxb:
      return 1;
    case Path::phb:
      return 2;
    case Path::node:
      return 3;
    case Path::sock:
      return 4;
    case Path::sys:
      return 5;
    case Path::unk:
      break;
  }
  return 3.5;
}

std::string_view path_words(Path path) {
  switch (path) {
    case Path::pix:
      return "behind the same switch";
    case Path::pxb:
      return "behind the same root port";
    case Path::phb:
      return "at the same host bridge";
    case Path::node:
      return "on the same NUMA node";
    case Path::sock:
      return "in the same package";
    case Path::sys:
      return "in another package";
    case Path::unk:
      break;
  }
  return "at an unknown place";
}

Path path_between(model::Node const& node, model::Device const& device, model::Nic const& nic) {
  return path_of(end_of(node, device), end_of(node, nic));
}

Path path_between(model::Node const& node, model::Device const& a, model::Device const& b) {
  return path_of(end_of(node, a), end_of(node, b));
}

Path path_from_numa(model::Node const& node, int numa, model::Nic const& nic) {
  End const end = end_of(node, nic);
  return by_memory(numa, package_of(node, numa), end.numa, end.package);
}

}  // namespace berth::place
