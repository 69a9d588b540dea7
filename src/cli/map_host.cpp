// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <base/text.hpp>
#include <cli/map_host.hpp>
#include <report/text.hpp>

namespace berth::cli {
namespace {

std::string_view vendor_name(std::string const& id) {
  if (id == "10de") return "NVIDIA";
  if (id == "1002") return "AMD";
  if (id == "8086") return "Intel";
  return "PCI";
}

std::string device_name(model::Device const& device) {
  std::string const vendor(vendor_name(device.vendor));
  if (device.model.empty()) return vendor + " GPU";
  if (device.model.rfind(vendor, 0) == 0) return device.model;
  return vendor + " " + device.model;
}

/// "mlx5_3" and 400 -> "mlx5 400 Gb/s"
std::string nic_name(model::Nic const& nic) {
  std::string family = nic.name.substr(0, nic.name.find('_'));
  if (family == nic.name) family.erase(family.find_last_not_of("0123456789") + 1);
  if (nic.gbps > 0) family += fmt::format(" {:.0f} Gb/s", nic.gbps);
  return family;
}

/// "2 packages, 2 NUMA nodes, 112 cores (SMT 2), 8 x NVIDIA H100, 8 x mlx5 400 Gb/s".
std::string summary(model::Node const& node) {
  auto const count = [](std::size_t n) { return static_cast<long long>(n); };
  std::vector<std::string> parts = {report::counted(node.packages, "package"),
                                    report::counted(count(node.numa_nodes.size()), "NUMA node"),
                                    report::counted(count(node.cores.size()), "core")};
  std::size_t threads = 1;
  for (model::Core const& core : node.cores) threads = std::max(threads, core.pus.size());
  if (threads > 1) parts.back() += fmt::format(" (SMT {})", threads);
  std::map<std::string, int> things;
  for (model::Device const& device : node.devices) ++things[device_name(device)];
  for (auto const& [name, number] : things) parts.push_back(fmt::format("{} x {}", number, name));
  things.clear();
  for (model::Nic const& nic : node.nics) ++things[nic_name(nic)];
  for (auto const& [name, number] : things) parts.push_back(fmt::format("{} x {}", number, name));
  return base::join(parts, ", ");
}

/// Finds a placement's device among the node's; several on one bus id are taken in turn.
std::optional<model::MapDevice> device_of(model::Node const& node, Placement const& placement,
                                          std::map<std::string, int>& taken) {
  if (placement.device.empty()) return std::nullopt;
  model::MapDevice found;
  found.bus_id = placement.device;
  int skip = taken[placement.device]++;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    model::Device const& device = node.devices[i];
    if (device.bus_id != placement.device) continue;
    found.index = static_cast<int>(i);
    found.partition = device.partition;
    found.vendor = device.vendor;
    if (device.numa >= 0)
      found.numa = node.numa_nodes.at(static_cast<std::size_t>(device.numa)).os_index;
    if (skip-- == 0) break;
  }
  return found;
}

}  // namespace

model::MapHost host_of(std::string name, model::Node const& node,
                       std::vector<std::pair<int, Placement>> const& placements) {
  model::MapHost host;
  host.name = std::move(name);
  host.summary = summary(node);
  host.numa_nodes = static_cast<int>(node.numa_nodes.size());
  host.devices = static_cast<int>(node.devices.size());
  std::map<std::string, int> taken;
  for (auto const& [rank, placement] : placements)
    host.ranks.push_back({rank, placement, device_of(node, placement, taken)});
  return host;
}

}  // namespace berth::cli
