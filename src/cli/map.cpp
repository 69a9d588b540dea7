// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <place/place.hpp>
#include <report/map_text.hpp>
#include <report/text.hpp>
#include <topo/topo.hpp>

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

/// A host of the map: what is known of the machine, and its ranks.
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

int publish(model::MapReport const& report, Output& output) {
  output.document(json::map_document(report));
  output.text(report::map_text(report));
  output.check();
  return 0;
}

/// What is read once and stands for one host or several.
struct Machine {
  std::string topology;
  model::Node node;
};

std::vector<Machine> read_machines(MapArguments const& arguments) {
  std::vector<Machine> machines;
  for (std::string const& path : arguments.topologies)
    machines.push_back({path, topo::read_xml(path)});
  if (machines.empty()) machines.push_back({"", topo::read_live()});
  return machines;
}

}  // namespace

int map_imagined(MapArguments const& arguments, Output& output) {
  model::MapReport report;
  int rank = 0;
  for (Machine const& machine : read_machines(arguments)) {
    model::Node const& node = machine.node;
    int const devices = static_cast<int>(node.devices.size());
    int const local_size = arguments.ranks_per_node.value_or(std::max(devices, 1));
    model::Policy policy;
    policy.smt = arguments.smt;
    policy.use_devices = devices > 0;
    std::vector<model::LocalRank> ranks;
    for (int i = 0; i < local_size; ++i) {
      model::LocalRank local;
      local.rank = i;
      local.affinity = node.allowed;
      ranks.push_back(std::move(local));
    }
    // Equal hosts have equal plans.
    model::NodePlan const plan = place::plan_node(node, ranks, policy);
    for (int copy = 0; copy < arguments.nodes; ++copy) {
      std::vector<std::pair<int, Placement>> placements;
      for (Placement const& placement : plan.placements) placements.emplace_back(rank++, placement);
      auto host = host_of(fmt::format("node{}", report.hosts.size()), node, placements);
      host.topology = machine.topology;
      report.cost += plan.cost;
      report.hosts.push_back(std::move(host));
    }
  }
  return publish(report, output);
}

int map_live(Job& job, Output& output) {
  Communicator::Impl& impl = job.impl();
  std::vector<Placement> const placements = impl.gather_placements();
  job.publish([&] {
    if (!output.speaks()) return;
    model::MapReport report;
    model::Node const here = topo::read_live();
    for (std::size_t host = 0; host < impl.host_names().size(); ++host) {
      std::vector<std::pair<int, Placement>> local;
      for (std::size_t rank = 0; rank < placements.size(); ++rank) {
        if (impl.host_of_rank()[rank] != static_cast<int>(host)) continue;
        local.emplace_back(static_cast<int>(rank), placements[rank]);
        report.cost += placements[rank].cost;
      }
      bool const is_here = static_cast<int>(host) == impl.placement().host;
      report.hosts.push_back(
          host_of(impl.host_names()[host], is_here ? here : model::Node{}, local));
      if (!is_here)
        report.hosts.back().summary = report::counted(static_cast<long long>(local.size()), "rank");
    }
    publish(report, output);
  });
  job.close();
  return 0;
}

}  // namespace berth::cli
