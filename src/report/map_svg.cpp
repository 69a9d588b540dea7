// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <report/map_svg.hpp>
#include <report/map_svg_draw.hpp>
#include <report/map_svg_picture.hpp>
#include <report/svg.hpp>

namespace berth::report {
namespace {

constexpr int heading = 40;
constexpr int narrowest_page = 680;
constexpr int key_height = 34;

/// What the marks mean that no legend names. @return where it ends
int draw_key(Svg& svg, int top) {
  int x = size::margin;
  int const y = top + 8;
  svg.open("key");
  auto const entry = [&](std::string_view style, std::string_view text) {
    svg.box("sample", {x, y, 14, 14}, style);
    svg.text({x + 20, y + 11}, text, {10, "#555555"});
    x += 20 + text_width(text, 10) + 14;
  };
  entry("fill=\"#ffffff\" stroke=\"#8a8a8a\"", "allowed, idle");
  entry("fill=\"url(#berth-barred)\" stroke=\"#c4c4c4\"", "not allowed");
  entry("fill=\"#fafafa\" stroke=\"#9a9a9a\" stroke-dasharray=\"4 3\"", "no rank uses it");
  svg.text({x, y + 11}, "PIX PXB PHB NODE SOCK SYS: path, near to far", {10, "#555555"});
  svg.close();
  return top + key_height;
}

/// @return where the host ends
int draw_host(Svg& svg, HostPicture const& host, Picture const& picture, int top, int width) {
  svg.open("host");
  svg.text({size::margin, top + 24}, fitted(host.title, width - 2 * size::margin, 15),
           {15, "#111111", "start", true});
  draw_machine(svg, picture);
  draw_tiles(svg, picture);
  int y = picture.box.bottom();
  if (picture.packages.empty()) {
    svg.text({size::margin, y + 10}, "nothing is known of this machine", {11, "#666666"});
    y += 24;
  }
  y = draw_unused(svg, host, y, width);
  y = draw_legend(svg, host, y, width);
  svg.close();
  return y + size::margin;
}

}  // namespace

std::string map_svg(std::vector<HostPicture> const& hosts) {
  int width = narrowest_page;
  std::size_t ranks = 0;
  for (HostPicture const& host : hosts) {
    // The widest decides how wide the legends may be; places below it follow in a second pass.
    Picture picture = picture_of(host);
    lay_out(picture, heading);
    width = std::max(width, picture.box.width);
    width = std::max(width, std::min(size::page, legend_width(host) + 2 * size::margin));
    width = std::max(width, std::min(size::page, text_width(host.title, 15) + 3 * size::margin));
    ranks = std::max(ranks, host.ranks.size());
  }
  Svg marks;
  int y = 0;
  for (HostPicture const& host : hosts) {
    Picture picture = picture_of(host);
    lay_out(picture, y + heading);
    y = draw_host(marks, host, picture, y, width);
  }
  y = draw_key(marks, y);

  Svg whole;
  whole.raw(pattern_definitions(ranks));
  whole.box("page", {0, 0, width, y}, "fill=\"#ffffff\"");
  whole.raw(marks.marks());
  return whole.document(width, y);
}

}  // namespace berth::report
