// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <pugixml.hpp>

/// What must be true of every picture, found out from the document alone.
namespace berth::test {

/// A picture that was parsed.
struct Drawing {
  pugi::xml_document document;
  int width = 0;
  int height = 0;
  bool well_formed = false;
};

/// A rectangle of the document.
struct Rectangle {
  std::string css_class;
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// Parses strictly: unknown entities, scripts and references to other places are not well formed.
void parse(std::string const& svg, Drawing& drawing);
/// All rectangles of a class.
std::vector<Rectangle> rectangles(Drawing const& drawing, std::string const& css_class);
/// All texts, tooltips included, one a line.
std::string texts(Drawing const& drawing);
/// How often an attribute has a value anywhere.
int uses(Drawing const& drawing, std::string const& attribute, std::string const& value);

/// A complaint per rule that is broken: everything inside the view box; packages, NUMA nodes, cores
/// and tiles apart from each other; no line through a tile it does not join.
std::vector<std::string> faults(Drawing const& drawing);

}  // namespace berth::test
