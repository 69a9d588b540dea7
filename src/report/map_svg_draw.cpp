// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include <base/ranges.hpp>
#include <report/map_svg_draw.hpp>

namespace berth::report {
namespace {

using Owners = std::vector<std::size_t>;

/// After Okabe and Ito, told apart by people with any kind of colour blindness; their black, which
/// hides the numbers, is replaced by an indigo, and their yellow is darker to show on white.
struct Colour {
  std::string_view fill;
  std::string_view text;
};
constexpr std::array<Colour, 8> colours = {{{"#0072B2", "#ffffff"},
                                            {"#E69F00", "#000000"},
                                            {"#009E73", "#000000"},
                                            {"#CC79A7", "#000000"},
                                            {"#56B4E9", "#000000"},
                                            {"#D55E00", "#000000"},
                                            {"#E3D21B", "#000000"},
                                            {"#332288", "#ffffff"}}};
/// Marks of the second, third, ... rank of a colour.
constexpr std::array<std::string_view, 5> marks = {
    "<path d=\"M-1 5L5 -1M3 9L9 3\" stroke=\"#ffffff\" stroke-width=\"1.2\"/>",
    "<path d=\"M0 0H8\" stroke=\"#ffffff\" stroke-width=\"3\"/>",
    "<path d=\"M-1 3L5 9M3 -1L9 5\" stroke=\"#000000\" stroke-width=\"1\"/>",
    "<path d=\"M0 0V8\" stroke=\"#ffffff\" stroke-width=\"3\"/>",
    "<circle cx=\"4\" cy=\"4\" r=\"1.3\" fill=\"#ffffff\"/>"};
/// Ranks that share a PU beyond these are one grey part.
constexpr std::size_t most_shares = 4;

std::size_t pattern_of(std::size_t rank) {
  // Every eighth rank has its colour plain; after all marks it begins anew.
  return rank / colours.size() % (marks.size() + 1);
}

std::string core_title(Picture const& picture, model::Core const& core, Owners const& ranks) {
  model::Node const& node = *picture.host->node;
  std::string text =
      fmt::format("{} {}", core.pus.size() == 1 ? "PU" : "PUs", base::format_ranges(core.pus));
  if (core.l3 >= 0) text += fmt::format(", L3 {}", core.l3);
  bool const allowed = std::any_of(core.pus.begin(), core.pus.end(), [&](int pu) {
    return std::binary_search(node.allowed.begin(), node.allowed.end(), pu);
  });
  if (!ranks.empty()) return text + ": " + ranks_text(*picture.host, ranks);
  return text + (allowed ? ": idle" : ": not allowed");
}

/// The ranks of a PU; null: none.
Owners const* owners_of(Picture const& picture, int pu) {
  auto const found = picture.owners.find(pu);
  return found == picture.owners.end() ? nullptr : &found->second;
}

/// Paints a core or a part of it. `named` are ranks whose number has been written already.
void draw_part(Svg& svg, Picture const& picture, Box const& box, int pu, Owners& named) {
  model::Node const& node = *picture.host->node;
  Owners const* const owners = owners_of(picture, pu);
  if (owners == nullptr) {
    bool const allowed = std::binary_search(node.allowed.begin(), node.allowed.end(), pu);
    svg.box(allowed ? "idle" : "barred", box,
            allowed ? "fill=\"#ffffff\" stroke=\"#8a8a8a\" stroke-width=\"0.8\""
                    : "fill=\"url(#berth-barred)\" stroke=\"#c4c4c4\" stroke-width=\"0.8\"");
    return;
  }
  std::size_t const shown = std::min(owners->size(), most_shares);
  for (std::size_t i = 0; i < shown; ++i) {
    std::size_t const rank = (*owners)[i];
    bool const rest = i + 1 == shown && shown < owners->size();
    auto const edge = [&](std::size_t part) {
      return box.y + box.height * static_cast<int>(part) / static_cast<int>(shown);
    };
    Box const share{box.x, edge(i), box.width, edge(i + 1) - edge(i)};
    svg.box("held", share, fmt::format("fill=\"{}\"", rest ? "#777777" : fill_of(rank)));
    if (rest || std::find(named.begin(), named.end(), rank) != named.end()) continue;
    std::string const number = std::to_string(picture.host->ranks[rank].rank);
    int const font = shown == 1 ? 9 : 7;
    if (share.height < font || share.width < text_width(number, font)) continue;
    if (pattern_of(rank) > 0) {
      int const plate = std::min(share.width, text_width(number, font) + 2);
      svg.box("plate", {share.x + (share.width - plate) / 2, share.y + 2, plate, share.height - 4},
              fmt::format("fill=\"{}\"", line_colour(rank)));
    }
    svg.text({share.x + share.width / 2, share.y + (share.height + font) / 2 - 1}, number,
             {font, text_colour(rank), "middle", true});
    named.push_back(rank);
  }
}

void draw_core(Svg& svg, Picture const& picture, CoreCell const& cell, Owners& before) {
  model::Node const& node = *picture.host->node;
  model::Core const& core = node.cores[cell.core];
  Owners ranks;
  bool even = true;
  auto const allowed = [&](int pu) {
    return std::binary_search(node.allowed.begin(), node.allowed.end(), pu);
  };
  for (int const pu : core.pus) {
    Owners const* const mine = owners_of(picture, pu);
    Owners const* const first = owners_of(picture, core.pus.front());
    bool const same =
        (mine == nullptr) == (first == nullptr) &&
        (mine == nullptr ? allowed(pu) == allowed(core.pus.front()) : *mine == *first);
    even = even && same;
    if (mine != nullptr) ranks.insert(ranks.end(), mine->begin(), mine->end());
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  // A number is written where a rank's piece begins, not in every core.
  Owners named;
  std::set_intersection(ranks.begin(), ranks.end(), before.begin(), before.end(),
                        std::back_inserter(named));
  before = ranks;
  svg.open("core", core_title(picture, core, ranks));
  if (even && !core.pus.empty()) {
    draw_part(svg, picture, cell.box, core.pus.front(), named);
  } else {
    int const count = static_cast<int>(core.pus.size());
    for (int i = 0; i < count; ++i) {
      int const x = cell.box.x + cell.box.width * i / count;
      int const end = cell.box.x + cell.box.width * (i + 1) / count;
      draw_part(svg, picture, {x, cell.box.y, end - x, cell.box.height},
                core.pus[static_cast<std::size_t>(i)], named);
    }
    svg.box("whole", cell.box, "fill=\"none\" stroke=\"#555555\" stroke-width=\"0.8\"");
  }
  svg.close();
}

void draw_strip(Svg& svg, model::Node const& node, Strip const& strip) {
  std::string const text = strip_text(node, strip);
  svg.open("memory", text);
  svg.box("strip", strip.box, "fill=\"#ece7f2\" stroke=\"#a99fc0\" stroke-width=\"0.8\"");
  svg.text({strip.box.x + 5, strip.box.y + 12}, fitted(text, strip.box.width - 8, 10),
           {10, "#4d4466"});
  svg.close();
}

}  // namespace

std::string line_colour(std::size_t rank) {
  return std::string(colours[rank % colours.size()].fill);
}

std::string fill_of(std::size_t rank) {
  std::size_t const pattern = pattern_of(rank);
  if (pattern == 0) return line_colour(rank);
  return fmt::format("url(#berth-{}-{})", rank % colours.size(), pattern);
}

std::string text_colour(std::size_t rank) {
  return std::string(colours[rank % colours.size()].text);
}

std::string pattern_definitions(std::size_t ranks) {
  std::string text =
      "<defs>\n<pattern id=\"berth-barred\" width=\"5\" height=\"5\" "
      "patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" fill=\"#f4f4f4\"/><path "
      "d=\"M0 5L5 0\" stroke=\"#b4b4b4\" stroke-width=\"0.8\"/></pattern>\n";
  std::size_t const all = colours.size() * (marks.size() + 1);
  for (std::size_t rank = colours.size(); rank < std::min(ranks, all); ++rank)
    text += fmt::format(
        "<pattern id=\"berth-{}-{}\" width=\"8\" height=\"8\" "
        "patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\" "
        "fill=\"{}\"/>{}</pattern>\n",
        rank % colours.size(), pattern_of(rank), line_colour(rank), marks[pattern_of(rank) - 1]);
  return text + "</defs>\n";
}

void draw_machine(Svg& svg, Picture const& picture) {
  model::Node const& node = *picture.host->node;
  for (PackageBox const& package : picture.packages) {
    svg.box("package", package.box, "rx=\"4\" fill=\"#f3f5f7\" stroke=\"#9aa3ad\"");
    svg.text({package.box.x + size::pad, package.box.y + 15}, package.title,
             {12, "#333333", "start", true});
    for (Strip const& strip : package.strips) draw_strip(svg, node, strip);
    for (NumaBox const& box : package.numas) {
      svg.box("numa", box.box, "rx=\"3\" fill=\"#ffffff\" stroke=\"#c3c9d0\"");
      svg.text({box.box.x + size::pad, box.box.y + 14},
               fitted(box.title, box.box.width - 2 * size::pad + 4, 11), {11, "#444444"});
      for (Strip const& strip : box.strips) draw_strip(svg, node, strip);
      Owners before;
      for (CoreCell const& cell : box.cores) draw_core(svg, picture, cell, before);
    }
  }
}

}  // namespace berth::report
