// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <cli/map_host.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <place/place.hpp>
#include <report/map_svg.hpp>
#include <report/map_text.hpp>
#include <topo/codec.hpp>
#include <topo/topo.hpp>

namespace berth::cli {
namespace {

/// What is written at the end: the report, and the machines for the picture.
struct Map {
  model::MapReport report;
  std::vector<report::HostPicture> pictures;
};

int publish(Map const& map, MapArguments const& arguments, Output& output) {
  if (!arguments.svg.empty()) output.file(arguments.svg, report::map_svg(map.pictures));
  output.document(json::map_document(map.report));
  output.text(report::map_text(map.report));
  output.check();
  return 0;
}

/// What is read once and stands for one host or several.
struct Machine {
  std::string topology;
  model::Node node;
};

std::vector<Machine> read_machines(MapArguments const& arguments,
                                   base::Environment const& environment) {
  std::vector<Machine> machines;
  for (std::string const& path : arguments.topologies)
    machines.push_back({path, topo::read_xml(path)});
  if (!machines.empty()) return machines;
  topo::LiveOptions options;
  options.nccl_topology = environment.raw("NCCL_TOPO_FILE").value_or("");
  machines.push_back({"", topo::read_live(options)});
  return machines;
}

/// One rank per device, at least one, or as many as were asked for.
std::vector<model::LocalRank> ranks_on(model::Node const& node, MapArguments const& arguments) {
  int const devices = static_cast<int>(node.devices.size());
  int const local_size = arguments.ranks_per_node.value_or(std::max(devices, 1));
  std::vector<model::LocalRank> ranks(static_cast<std::size_t>(local_size));
  for (int i = 0; i < local_size; ++i) ranks[static_cast<std::size_t>(i)].rank = i;
  return ranks;
}

/// Costs travel as whole numbers, which read the same in any locale.
constexpr double cost_unit = 1000;

/// What the first rank of a host says of it.
struct HostWord {
  std::optional<double> launcher_cost;
  model::Node node;
};

std::string encode(Communicator::Impl const& impl) {
  std::string place = place::encode(impl.placement());
  if (!impl.node()) return place;
  std::string const cost = impl.launcher_cost()
                               ? fmt::format("{}", std::llround(*impl.launcher_cost() * cost_unit))
                               : std::string();
  return fmt::format("{}\n{}\n", place, cost) + topo::encode_node(*impl.node());
}

HostWord decode(std::string const& text) {
  std::size_t const first = text.find('\n');
  std::size_t const second = first == std::string::npos ? first : text.find('\n', first + 1);
  if (second == std::string::npos)
    base::fail(Errc::internal, "a host's first rank sent no machine");
  HostWord word;
  std::string const cost = text.substr(first + 1, second - first - 1);
  constexpr long long most = std::numeric_limits<long long>::max();
  if (auto const units = base::parse_integer(cost, 0, most))
    word.launcher_cost = static_cast<double>(*units) / cost_unit;
  word.node = topo::decode_node(std::string_view(text).substr(second + 1));
  return word;
}

/// The map of the ranks that run, at rank 0.
/// @param words what every rank sent: its place, and from the first rank of a host the machine
/// @param nodes keeps the machines for the pictures
Map collect(Communicator::Impl const& impl, std::vector<std::string> const& words,
            std::vector<model::Node>& nodes) {
  Map map;
  std::size_t const hosts = impl.host_names().size();
  std::vector<std::vector<std::pair<int, Placement>>> placements(hosts);
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    auto const host = static_cast<std::size_t>(impl.host_of_rank()[rank]);
    Placement placement = place::decode(words[rank].substr(0, words[rank].find('\n')));
    map.report.cost += placement.cost;
    placements[host].emplace_back(static_cast<int>(rank), std::move(placement));
  }
  nodes.reserve(hosts);
  double launcher_cost = 0;
  bool all_bound = true;
  for (std::size_t host = 0; host < hosts; ++host) {
    auto const first = static_cast<std::size_t>(placements[host].front().first);
    HostWord word = decode(words[first]);
    all_bound = all_bound && word.launcher_cost.has_value();
    launcher_cost += word.launcher_cost.value_or(0);
    nodes.push_back(std::move(word.node));
    map.report.hosts.push_back(host_of(impl.host_names()[host], nodes.back(), placements[host]));
    map.pictures.push_back({impl.host_names()[host], &nodes.back(), map.report.hosts.back().ranks});
  }
  if (all_bound) map.report.launcher_cost = launcher_cost;
  return map;
}

}  // namespace

int map_imagined(MapArguments const& arguments, base::Environment const& environment,
                 Output& output) {
  std::vector<Machine> const machines = read_machines(arguments, environment);
  model::Policy policy;
  policy.smt = arguments.smt.value_or(environment.smt().value_or(policy.smt));
  policy.fill = arguments.fill.value_or(environment.fill().value_or(policy.fill));
  Map map;
  int rank = 0;
  for (Machine const& machine : machines) {
    policy.use_devices = !machine.node.devices.empty();
    // Equal hosts have equal plans.
    model::NodePlan const plan =
        place::plan_node(machine.node, ranks_on(machine.node, arguments), policy);
    for (int copy = 0; copy < arguments.nodes; ++copy) {
      std::vector<std::pair<int, Placement>> placements;
      for (Placement const& placement : plan.placements) {
        placements.emplace_back(rank++, placement);
        placements.back().second.host = static_cast<int>(map.report.hosts.size());
      }
      std::string const name = fmt::format("node{}", map.report.hosts.size());
      auto host = host_of(name, machine.node, placements);
      host.topology = machine.topology;
      map.report.cost += plan.cost;
      if (copy == 0) map.pictures.push_back({name, &machine.node, host.ranks});
      map.report.hosts.push_back(std::move(host));
    }
  }
  return publish(map, arguments, output);
}

int map_live(Job& job, MapArguments const& arguments, Output& output) {
  std::vector<std::string> const words = job.impl().gather(encode(job.impl()));
  job.publish([&] {
    if (!output.speaks()) return;
    std::vector<model::Node> nodes;
    publish(collect(job.impl(), words, nodes), arguments, output);
  });
  job.close();
  return 0;
}

}  // namespace berth::cli
