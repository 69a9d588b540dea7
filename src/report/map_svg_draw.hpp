// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <report/map_svg_picture.hpp>

/// How a picture is painted. Private to the room.
namespace berth::report {

/// The colour of a rank's lines and borders, "#E69F00", by its place among the host's ranks.
std::string line_colour(std::size_t rank);
/// What its areas are filled with: the colour, or a pattern of it once the colours are used up.
std::string fill_of(std::size_t rank);
/// A text colour that can be read on it.
std::string text_colour(std::size_t rank);
/// The patterns that `ranks` ranks and the cores need, as a <defs> element.
std::string pattern_definitions(std::size_t ranks);

/// Packages, NUMA nodes, memory and cores.
void draw_machine(Svg& svg, Picture const& picture);
/// Devices, NICs and the lines between them.
void draw_tiles(Svg& svg, Picture const& picture);
/// NICs that no rank may get, by reason, from `top` on. @return where it ends
int draw_unused(Svg& svg, HostPicture const& host, int top, int width);
/// One entry per rank. @return where it ends
int draw_legend(Svg& svg, HostPicture const& host, int top, int width);
/// Width at which the legend looks well.
int legend_width(HostPicture const& host);

}  // namespace berth::report
