// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "map_svg_checks.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace berth::test {
namespace {

template <class Visit>
void walk(pugi::xml_node node, Visit const& visit) {
  visit(node);
  for (pugi::xml_node const child : node.children()) walk(child, visit);
}

struct Line {
  std::vector<std::pair<double, double>> points;
};

std::vector<Line> lines(Drawing const& drawing) {
  std::vector<Line> found;
  walk(drawing.document, [&](pugi::xml_node node) {
    if (std::string(node.name()) != "polyline") return;
    Line line;
    std::istringstream stream(node.attribute("points").value());
    double x = 0;
    double y = 0;
    char comma = 0;
    while (stream >> x >> comma >> y) line.points.emplace_back(x, y);
    found.push_back(line);
  });
  return found;
}

bool overlap(Rectangle const& a, Rectangle const& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// Whether a straight piece passes through the inside of a rectangle.
bool crosses(std::pair<double, double> a, std::pair<double, double> b, Rectangle const& box) {
  Rectangle const piece{"", std::min(a.first, b.first), std::min(a.second, b.second),
                        std::abs(a.first - b.first), std::abs(a.second - b.second)};
  return piece.x < box.x + box.width - 0.5 && box.x + 0.5 < piece.x + piece.width + 0.01 &&
         piece.y < box.y + box.height - 0.5 && box.y + 0.5 < piece.y + piece.height + 0.01;
}

void check_inside(Drawing const& drawing, std::vector<std::string>& wrong) {
  auto const inside = [&](double x, double y) {
    return x >= 0 && y >= 0 && x <= drawing.width && y <= drawing.height;
  };
  walk(drawing.document, [&](pugi::xml_node node) {
    for (auto up = node.parent(); up; up = up.parent())
      if (std::string(up.name()) == "defs") return;
    std::string const name = node.name();
    double const x = node.attribute("x").as_double();
    double const y = node.attribute("y").as_double();
    if (name == "text") {
      // 0.5 of the size per character is what Helvetica takes.
      double const width = 0.5 * node.attribute("font-size").as_double() *
                           static_cast<double>(std::string(node.child_value()).size());
      bool const middle = std::string(node.attribute("text-anchor").value()) == "middle";
      double const left = middle ? x - width / 2 : x;
      if (!inside(left, y) || !inside(left + width, y))
        wrong.push_back(fmt::format("text outside: {}", node.child_value()));
    }
    if (name == "rect" && (!inside(x, y) || !inside(x + node.attribute("width").as_double(),
                                                    y + node.attribute("height").as_double())))
      wrong.push_back(fmt::format("{} outside", node.attribute("class").value()));
  });
  for (Line const& line : lines(drawing))
    for (auto const& [x, y] : line.points)
      if (!inside(x, y)) wrong.push_back("line outside");
}

void check_apart(Drawing const& drawing, std::vector<std::string> const& classes,
                 std::vector<std::string>& wrong) {
  std::vector<Rectangle> all;
  for (std::string const& css_class : classes)
    for (Rectangle const& box : rectangles(drawing, css_class)) all.push_back(box);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(all[i], all[j]))
        wrong.push_back(fmt::format("{} at {},{} over {} at {},{}", all[i].css_class, all[i].x,
                                    all[i].y, all[j].css_class, all[j].x, all[j].y));
}

void check_within(Drawing const& drawing, std::string const& inner, std::string const& outer,
                  std::vector<std::string>& wrong) {
  std::vector<Rectangle> const outers = rectangles(drawing, outer);
  for (Rectangle const& box : rectangles(drawing, inner)) {
    bool const held = std::any_of(outers.begin(), outers.end(), [&](Rectangle const& other) {
      return box.x >= other.x && box.y >= other.y && box.x + box.width <= other.x + other.width &&
             box.y + box.height <= other.y + other.height;
    });
    if (!held) wrong.push_back(fmt::format("{} at {},{} in no {}", inner, box.x, box.y, outer));
  }
}

/// Lines keep off cores and tiles; they touch the edges of those they join.
void check_lines(Drawing const& drawing, std::vector<std::string>& wrong) {
  std::vector<Rectangle> boxes = rectangles(drawing, "tile");
  for (char const* part : {"held", "idle", "barred"})
    for (Rectangle const& box : rectangles(drawing, part)) boxes.push_back(box);
  for (Line const& line : lines(drawing)) {
    for (std::size_t i = 1; i < line.points.size(); ++i)
      for (Rectangle const& box : boxes)
        if (crosses(line.points[i - 1], line.points[i], box))
          wrong.push_back(fmt::format("line through {} at {},{}", box.css_class, box.x, box.y));
  }
}

}  // namespace

void parse(std::string const& svg, Drawing& drawing) {
  drawing.well_formed =
      drawing.document.load_string(svg.c_str(), pugi::parse_full | pugi::parse_ws_pcdata).status ==
      pugi::status_ok;
  pugi::xml_node const root = drawing.document.child("svg");
  std::istringstream box(root.attribute("viewBox").value());
  int x = -1;
  int y = -1;
  box >> x >> y >> drawing.width >> drawing.height;
  bool const plain = svg.find("<script") == std::string::npos &&
                     svg.find("href") == std::string::npos &&
                     svg.find("<!ENTITY") == std::string::npos;
  drawing.well_formed =
      drawing.well_formed && plain && x == 0 && y == 0 && drawing.width > 0 && drawing.height > 0;
}

std::vector<Rectangle> rectangles(Drawing const& drawing, std::string const& css_class) {
  std::vector<Rectangle> found;
  walk(drawing.document, [&](pugi::xml_node node) {
    if (std::string(node.name()) != "rect" || css_class != node.attribute("class").value()) return;
    found.push_back({css_class, node.attribute("x").as_double(), node.attribute("y").as_double(),
                     node.attribute("width").as_double(), node.attribute("height").as_double()});
  });
  return found;
}

std::string texts(Drawing const& drawing) {
  std::string all;
  walk(drawing.document, [&](pugi::xml_node node) {
    std::string const name = node.name();
    if (name == "text" || name == "title") all += std::string(node.child_value()) + "\n";
  });
  return all;
}

int uses(Drawing const& drawing, std::string const& attribute, std::string const& value) {
  int count = 0;
  walk(drawing.document, [&](pugi::xml_node node) {
    count += value == node.attribute(attribute.c_str()).value() ? 1 : 0;
  });
  return count;
}

std::vector<std::string> faults(Drawing const& drawing) {
  std::vector<std::string> wrong;
  if (!drawing.well_formed) return {"not well formed"};
  check_inside(drawing, wrong);
  check_apart(drawing, {"package"}, wrong);
  check_apart(drawing, {"numa"}, wrong);
  check_apart(drawing, {"tile", "held", "idle", "barred", "strip"}, wrong);
  check_within(drawing, "numa", "package", wrong);
  check_within(drawing, "strip", "package", wrong);
  for (char const* part : {"tile", "held", "idle", "barred"})
    check_within(drawing, part, "numa", wrong);
  check_lines(drawing, wrong);
  return wrong;
}

}  // namespace berth::test
