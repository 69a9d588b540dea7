// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <base/ranges.hpp>
#include <base/text.hpp>
#include <report/map_svg_draw.hpp>

namespace berth::report {
namespace {

constexpr std::string_view shared_colour = "#555555";
constexpr int badge_height = 14;

/// "NVIDIA H100 80GB HBM3" -> "H100 80GB HBM3": the vendor is no news, and space is short.
std::string short_model(model::Device const& device) {
  std::string name = device.model;
  // The PCI ID list has "Aqua Vanjaram [Instinct MI300A]".
  std::size_t const open = name.find('[');
  std::size_t const close = name.find(']', open == std::string::npos ? 0 : open);
  if (open != std::string::npos && close != std::string::npos && close > open + 1)
    name = name.substr(open + 1, close - open - 1);
  for (std::string_view const word : {"NVIDIA ", "AMD ", "Intel ", "Tesla ", "Instinct "})
    if (name.rfind(word, 0) == 0) name.erase(0, word.size());
  if (!name.empty()) return name;
  if (device.vendor == "10de") return "NVIDIA";
  if (device.vendor == "1002") return "AMD";
  if (device.vendor == "8086") return "Intel";
  return device.vendor.empty() ? "" : "vendor " + device.vendor;
}

/// Why the ranks are where they are, for a tooltip.
std::string reasons(HostPicture const& host, std::vector<std::size_t> const& ranks) {
  std::string text;
  for (std::size_t const rank : ranks)
    text += fmt::format(". Rank {}: {}", host.ranks[rank].rank, host.ranks[rank].placement.reason);
  return text;
}

/// Numbers of ranks on their colours, from x to at most `right`; "+3" for those that do not fit.
void draw_badges(Svg& svg, HostPicture const& host, std::vector<std::size_t> const& ranks, Point at,
                 int right) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::string const number = std::to_string(host.ranks[ranks[i]].rank);
    int const width = badge_width(host.ranks[ranks[i]]);
    std::string const rest = fmt::format("+{}", ranks.size() - i);
    bool const last = i + 1 == ranks.size();
    if (at.x + width + (last ? 0 : text_width(rest, 10) + 2) > right) {
      svg.text({at.x, at.y + 11}, rest, {10, "#444444"});
      return;
    }
    svg.box("badge", {at.x, at.y, width, badge_height},
            fmt::format("rx=\"2\" fill=\"{}\"", fill_of(ranks[i])));
    // On a pattern the number needs a plain ground.
    svg.box("plate", {at.x + 2, at.y + 2, width - 4, badge_height - 4},
            fmt::format("fill=\"{}\"", line_colour(ranks[i])));
    svg.text({at.x + width / 2, at.y + 11}, number, {10, text_colour(ranks[i]), "middle", true});
    at.x += width + 2;
  }
}

/// Borders: the rank's colour, grey where several share, dashed where nobody is.
void draw_frame(Svg& svg, std::string_view css_class, Tile const& tile) {
  bool const one = tile.ranks.size() == 1;
  svg.box(css_class, tile.box,
          tile.ranks.empty()
              ? std::string("rx=\"3\" fill=\"#fafafa\" stroke=\"#9a9a9a\" stroke-dasharray=\"4 3\"")
              : fmt::format("rx=\"3\" fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"{}\"",
                            one ? line_colour(tile.ranks.front()) : shared_colour,
                            tile.kind == TileKind::nic ? "1.5" : "2.5"));
}

void draw_device(Svg& svg, Picture const& picture, Tile const& tile) {
  HostPicture const& host = *picture.host;
  model::Device const& device = host.node->devices[tile.index];
  std::string title = device.bus_id;
  if (!device.model.empty()) title += ", " + device.model;
  if (device.partition > 0) title += fmt::format(", partition {}", device.partition);
  if (!device.uuid.empty()) title += ", " + device.uuid;
  title += tile.ranks.empty() ? std::string(": no rank uses it") : reasons(host, tile.ranks);
  svg.open("device", title);
  draw_frame(svg, "tile", tile);
  bool const many = picture.head_height > 40;
  Font font{11, tile.ranks.empty() ? "#777777" : "#111111", "start", !tile.ranks.empty()};
  Box const& box = tile.box;
  std::string name = short_bus_id(*host.node, device.bus_id);
  int const right = box.right() - 5;
  svg.text({box.x + 6, box.y + 14}, fitted(name, box.width - 10, 11), font);
  int const after_name = box.x + 6 + std::min(box.width - 10, text_width(name, 11)) + 4;
  if (many)
    draw_badges(svg, host, tile.ranks, {box.x + 6, box.y + 34}, right);
  else
    draw_badges(svg, host, tile.ranks, {after_name, box.y + 4}, right);
  std::string model = short_model(device);
  int partitions = 0;
  for (model::Device const& other : host.node->devices)
    partitions += other.bus_id == device.bus_id ? 1 : 0;
  std::string const part = partitions > 1 ? fmt::format(" part {}", device.partition) : "";
  svg.text({box.x + 6, box.y + 28}, fitted(model, box.width - 10 - text_width(part, 10), 10) + part,
           {10, "#555555"});
  svg.close();
}

void draw_ranks(Svg& svg, Picture const& picture, Tile const& tile) {
  HostPicture const& host = *picture.host;
  svg.open("ranks", ranks_text(host, tile.ranks) + reasons(host, tile.ranks));
  draw_frame(svg, "tile", tile);
  Box const& box = tile.box;
  std::string const& device = host.ranks[tile.ranks.front()].placement.device;
  if (tile.ranks.size() == 1) {
    svg.text({box.x + 6, box.y + 14}, "rank", {11, "#111111"});
    draw_badges(svg, host, tile.ranks, {box.x + 38, box.y + 4}, box.right() - 5);
  } else {
    svg.text({box.x + 6, box.y + 14}, fitted(ranks_text(host, tile.ranks), box.width - 10, 11),
             {11, "#111111"});
  }
  svg.text({box.x + 6, box.y + 28},
           fitted(device.empty() ? "no device" : device, box.width - 10, 10), {10, "#777777"});
  svg.close();
}

void draw_nic(Svg& svg, Picture const& picture, Tile const& tile) {
  HostPicture const& host = *picture.host;
  model::Nic const& nic = host.node->nics[tile.index];
  std::string const speed = nic.gbps > 0 ? fmt::format("{:.10g} Gb/s", nic.gbps) : "";
  std::string title = nic.name;
  if (!nic.bus_id.empty()) title += ", " + nic.bus_id;
  if (!speed.empty()) title += ", " + speed;
  title += ": " + (tile.ranks.empty() ? "no rank uses it" : ranks_text(host, tile.ranks));
  svg.open("nic", title);
  draw_frame(svg, "tile", tile);
  Box const& box = tile.box;
  bool const used = !tile.ranks.empty();
  svg.text({box.x + 6, box.y + (speed.empty() ? 19 : 13)}, fitted(nic.name, box.width - 10, 11),
           {11, used ? "#111111" : "#777777"});
  svg.text({box.x + 6, box.y + 25}, speed, {9, "#666666"});
  svg.close();
}

void draw_link(Svg& svg, Picture const& picture, Link const& link) {
  HostPicture const& host = *picture.host;
  std::string title = fmt::format("{} to {}", ranks_text(host, link.ranks),
                                  host.node->nics[picture.tiles[link.to].index].name);
  if (!link.path.empty()) title += ", " + link.path;
  svg.open("link", title);
  // Lines of ranks that share a device run together.
  bool const single = picture.tiles[link.from].ranks.size() == 1;
  std::string_view const join = "fill=\"none\" stroke-linejoin=\"round\" ";
  // White beside each line keeps crossings apart.
  svg.line(link.points, fmt::format("{}stroke=\"#ffffff\" stroke-width=\"4\"", join));
  svg.line(link.points, fmt::format("{}stroke=\"{}\" stroke-width=\"2\"", join,
                                    single ? line_colour(link.ranks.front()) : shared_colour));
  svg.close();
}

}  // namespace

void draw_tiles(Svg& svg, Picture const& picture) {
  for (Link const& link : picture.links) draw_link(svg, picture, link);
  for (Link const& link : picture.links) svg.text(link.label, link.path, {9, "#333333"});
  for (Tile const& tile : picture.tiles) {
    if (tile.kind == TileKind::device) draw_device(svg, picture, tile);
    if (tile.kind == TileKind::ranks) draw_ranks(svg, picture, tile);
    if (tile.kind == TileKind::nic) draw_nic(svg, picture, tile);
  }
}

}  // namespace berth::report
