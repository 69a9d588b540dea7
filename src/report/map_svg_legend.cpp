// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include <base/text.hpp>
#include <report/map_svg_draw.hpp>

namespace berth::report {
namespace {

constexpr int font = 10;
constexpr int line_height = 17;
constexpr int gap = 12;
constexpr int widest_cell = 260;
/// Of a legend in one list.
constexpr int widest_alone = 460;
/// With more ranks a legend goes on beside itself.
constexpr std::size_t most_listed = 8;
/// Lines of a longer one, where the page is wide enough.
constexpr std::size_t most_wished = 16;
constexpr std::size_t most_names = 12;
/// rank, device, cores, CPUs, memory, NICs, path, flags
constexpr std::size_t cells = 8;
using Cells = std::array<std::string, cells>;
constexpr std::array<std::string_view, cells> titles = {"rank",   "device", "cores", "CPUs",
                                                        "memory", "NICs",   "path",  "flags"};

std::string or_dash(std::string const& text) {
  return text.empty() ? "-" : text;
}

Cells cells_of(HostPicture const& host, model::MapRank const& rank) {
  Placement const& place = rank.placement;
  std::string device = short_bus_id(*host.node, place.device);
  auto const same = std::count_if(host.node->devices.begin(), host.node->devices.end(),
                                  [&](auto const& d) { return d.bus_id == place.device; });
  if (same > 1) device += fmt::format(" part {}", place.partition);
  std::vector<std::string> memory;
  for (int const node : place.memory_nodes) memory.push_back(std::to_string(node));
  return {std::to_string(rank.rank),        or_dash(device),
          std::to_string(place.cores),      or_dash(place.cpus),
          or_dash(base::join(memory, ",")), or_dash(base::join(place.nics, " ")),
          or_dash(place.nic_path),          base::join(place.flags, ", ")};
}

struct Table {
  std::vector<Cells> rows;
  std::array<int, cells> widths = {};
  int width = 0;  ///< of a row
};

Table table_of(HostPicture const& host) {
  Table table;
  for (std::size_t i = 0; i < cells; ++i) table.widths[i] = text_width(titles[i], font);
  bool flagged = false;
  int const most_width = host.ranks.size() <= most_listed ? widest_alone : widest_cell;
  for (model::MapRank const& rank : host.ranks) {
    Cells row = cells_of(host, rank);
    for (std::size_t i = 0; i < cells; ++i) {
      row[i] = fitted(row[i], most_width, font);
      table.widths[i] = std::max(table.widths[i], text_width(row[i], font));
    }
    flagged = flagged || !row.back().empty();
    table.rows.push_back(std::move(row));
  }
  if (!flagged) table.widths.back() = 0;
  table.width = line_height;
  for (int const width : table.widths) table.width += width > 0 ? width + gap : 0;
  return table;
}

void draw_row(Svg& svg, Table const& table, Cells const& row, Point at, Font const& style) {
  at.x += line_height + 3;
  for (std::size_t i = 0; i < cells; ++i) {
    if (table.widths[i] == 0) continue;
    svg.text(at, row[i], style);
    at.x += table.widths[i] + gap;
  }
}

/// "veth0, veth1 and 38 more (virtual)".
std::string unused_text(std::string const& reason, std::vector<std::string> const& names,
                        std::size_t count) {
  std::vector<std::string> const shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(count));
  std::string const more =
      count < names.size() ? fmt::format(" and {} more", names.size() - count) : "";
  return fmt::format("{}{} ({})", base::join(shown, ", "), more, reason);
}

}  // namespace

int legend_width(HostPicture const& host) {
  if (host.ranks.empty()) return 0;
  int const blocks = static_cast<int>((host.ranks.size() + most_wished - 1) / most_wished);
  int const block = table_of(host).width + 2 * gap;
  // As many as stay on a page, at least one.
  return std::min(blocks, std::max(1, size::page / block)) * block;
}

int draw_legend(Svg& svg, HostPicture const& host, int top, int width) {
  if (host.ranks.empty()) return top;
  Table const table = table_of(host);
  int const room = width - 2 * size::margin;
  // Few ranks read best in one list.
  int const most = host.ranks.size() <= most_listed
                       ? 1
                       : std::max(1, (room + 2 * gap) / (table.width + 2 * gap));
  std::size_t const count = static_cast<std::size_t>(most);
  std::size_t const lines = (host.ranks.size() + count - 1) / count;
  std::size_t const blocks = (host.ranks.size() + lines - 1) / lines;
  Cells head;
  for (std::size_t i = 0; i < cells; ++i) head[i] = titles[i];
  svg.open("legend");
  for (std::size_t column = 0; column < blocks; ++column)
    draw_row(svg, table, head,
             {size::margin + static_cast<int>(column) * (table.width + 2 * gap), top + 12},
             {font, "#777777"});
  for (std::size_t i = 0; i < host.ranks.size(); ++i) {
    int const x = size::margin + static_cast<int>(i / lines) * (table.width + 2 * gap);
    int const y = top + line_height * static_cast<int>(1 + i % lines);
    Placement const& place = host.ranks[i].placement;
    svg.open("entry", fmt::format("rank {}: {} (cost {:.10g})", host.ranks[i].rank, place.reason,
                                  place.cost));
    svg.box("swatch", {x, y + 1, 14, 14}, fmt::format("rx=\"2\" fill=\"{}\"", fill_of(i)));
    draw_row(svg, table, table.rows[i], {x, y + 12}, {font, "#222222"});
    svg.close();
  }
  svg.close();
  return top + line_height * static_cast<int>(1 + lines) + 6;
}

int draw_unused(Svg& svg, HostPicture const& host, int top, int width) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (model::UnusedNic const& nic : host.node->unused_nics)
    by_reason[nic.reason].push_back(nic.name);
  if (by_reason.empty()) return top;
  svg.open("unused");
  std::string_view const head = "not used:";
  int const left = size::margin + text_width(head, font);
  svg.text({size::margin, top + 12}, head, {font, "#8a8a8a"});
  int x = left;
  for (auto const& [reason, names] : by_reason) {
    int const room = width - size::margin - left;
    std::size_t count = std::min(names.size(), most_names);
    while (count > 1 && text_width(unused_text(reason, names, count), font) > room) --count;
    std::string const text = fitted(unused_text(reason, names, count), room, font);
    if (x > left && x + text_width(text, font) > width - size::margin) {
      x = left;
      top += line_height;
    }
    svg.open("unused-nics", fmt::format("{}: {}", reason, base::join(names, ", ")));
    svg.text({x, top + 12}, text, {font, "#8a8a8a"});
    svg.close();
    x += text_width(text, font) + gap;
  }
  top += line_height;
  svg.close();
  return top + 8;
}

}  // namespace berth::report
