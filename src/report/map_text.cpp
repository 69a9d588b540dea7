// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <base/text.hpp>
#include <report/map_text.hpp>
#include <report/text.hpp>

namespace berth::report {
namespace {

using model::MapHost;
using model::MapRank;
using model::MapReport;

/// More compromises than this are counted, not told.
constexpr std::size_t most_told = 8;

std::string or_dash(std::string const& text) {
  return text.empty() ? "-" : text;
}

std::string number_or_dash(int number) {
  return number < 0 ? "-" : std::to_string(number);
}

std::string device_cell(MapRank const& rank) {
  if (!rank.device) return or_dash(rank.placement.device);
  std::string text = rank.device->index < 0 ? "" : fmt::format("{}  ", rank.device->index);
  text += rank.device->bus_id;
  if (rank.device->partition > 0) text += fmt::format("/{}", rank.device->partition);
  return text;
}

std::string memory_cell(Placement const& placement) {
  std::vector<std::string> nodes;
  for (int const node : placement.memory_nodes) nodes.push_back(std::to_string(node));
  return or_dash(base::join(nodes, ","));
}

std::string host_table(MapHost const& host) {
  std::vector<std::vector<std::string>> rows;
  for (MapRank const& rank : host.ranks) {
    Placement const& place = rank.placement;
    rows.push_back({std::to_string(rank.rank), device_cell(rank), number_or_dash(place.numa_node),
                    std::to_string(place.cores), or_dash(place.cpus), memory_cell(place),
                    place.nics.empty() ? "-" : place.nics.front(), or_dash(place.nic_path)});
  }
  return table({{"rank", true},
                {"device", false},
                {"NUMA", true},
                {"cores", true},
                {"CPUs", false},
                {"memory", false},
                {"NIC", false},
                {"path", false}},
               rows);
}

std::string host_head(MapHost const& host) {
  std::string const what = host.summary.empty()
                               ? fmt::format("{}, {}", counted(host.numa_nodes, "NUMA node"),
                                             counted(host.devices, "device"))
                               : host.summary;
  return hanging(host.name + ": ", what);
}

/// Same machine, same places: only the numbers of host and ranks differ.
bool are_alike(MapHost const& a, MapHost const& b) {
  if (a.topology != b.topology || a.summary != b.summary) return false;
  return std::equal(a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(),
                    [](MapRank const& x, MapRank const& y) {
                      Placement const& p = x.placement;
                      Placement const& q = y.placement;
                      return p.device == q.device && p.partition == q.partition &&
                             p.cpus == q.cpus && p.memory_nodes == q.memory_nodes &&
                             p.nics == q.nics && p.flags == q.flags;
                    });
}

/// "node1 to node63: as node0, ranks 8 to 511", for hosts [first, last].
std::string alike_line(MapReport const& report, std::size_t of, std::size_t first,
                       std::size_t last) {
  MapHost const& from = report.hosts[first];
  MapHost const& to = report.hosts[last];
  std::string const names = first == last ? from.name : fmt::format("{} to {}", from.name, to.name);
  if (from.ranks.empty()) return fmt::format("{}: as {}\n\n", names, report.hosts[of].name);
  return fmt::format("{}: as {}, ranks {} to {}\n\n", names, report.hosts[of].name,
                     from.ranks.front().rank, to.ranks.back().rank);
}

/// A table for each host, and a line for those that are like the one before.
std::string host_tables(MapReport const& report) {
  std::string text;
  for (std::size_t i = 0; i < report.hosts.size(); ++i) {
    text += host_head(report.hosts[i]) + "\n" + host_table(report.hosts[i]) + "\n";
    std::size_t last = i;
    while (last + 1 < report.hosts.size() && are_alike(report.hosts[i], report.hosts[last + 1]))
      ++last;
    if (last > i) text += alike_line(report, i, i + 1, last);
    i = last;
  }
  return text;
}

std::vector<MapRank const*> compromised(MapReport const& report) {
  std::vector<MapRank const*> ranks;
  for (MapHost const& host : report.hosts)
    for (MapRank const& rank : host.ranks)
      if (!rank.placement.flags.empty()) ranks.push_back(&rank);
  return ranks;
}

std::string compromise_lines(std::vector<MapRank const*> const& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_told); ++i) {
    Placement const& place = ranks[i]->placement;
    text += hanging(fmt::format("rank {}: ", ranks[i]->rank),
                    fmt::format("{} ({})", base::join(place.flags, ", "), place.reason));
  }
  if (ranks.size() > most_told)
    text += fmt::format("and {} more; --json tells all\n", ranks.size() - most_told);
  return text;
}

std::string verdict(MapReport const& report, std::size_t compromises) {
  std::size_t ranks = 0;
  bool has_device = false;
  bool has_nic = false;
  for (MapHost const& host : report.hosts) {
    ranks += host.ranks.size();
    for (MapRank const& rank : host.ranks) {
      has_device = has_device || rank.device.has_value() || !rank.placement.device.empty();
      has_nic = has_nic || !rank.placement.nics.empty();
    }
  }
  std::string cost = fmt::format("cost {:.10g}", report.cost);
  if (report.launcher_cost)
    cost += fmt::format("; the launcher's own binding: {:.10g}", *report.launcher_cost);
  if (compromises > 0)
    return fmt::format("good: {} of {} without a compromise ({})\n", ranks - compromises,
                       counted(static_cast<long long>(ranks), "rank"), cost);
  std::string_view const what = has_device && has_nic ? "beside its device and nearest NIC"
                                : has_device          ? "beside its device"
                                                      : "on cores and memory of its own";
  return fmt::format("good: every rank {} ({})\n", what, cost);
}

}  // namespace

std::string map_text(MapReport const& report) {
  std::string text = host_tables(report);
  std::vector<MapRank const*> const ranks = compromised(report);
  text += compromise_lines(ranks);
  return text + verdict(report, ranks.size());
}

}  // namespace berth::report
