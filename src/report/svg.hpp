// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Marks of an SVG document, in whole pixels. Pure. Private to the room.
namespace berth::report {

struct Point {
  int x = 0;
  int y = 0;
};

struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  [[nodiscard]] int right() const { return x + width; }
  [[nodiscard]] int bottom() const { return y + height; }
};

/// How a text is set.
struct Font {
  int size = 11;
  std::string_view colour = "#222222";
  std::string_view anchor = "start";  ///< "start", "middle", "end"
  bool bold = false;
};

/// Text that XML takes, whatever it was: markup escaped, control characters and broken UTF-8 '?'.
std::string xml_text(std::string_view text);
/// Pixels that a text takes at most in a common sans-serif font.
int text_width(std::string_view text, int size);
/// The beginning of a text that fits `width` pixels, ending with "..." when something is left out.
std::string fitted(std::string_view text, int width, int size);

/// Writes a document mark by mark; the order is the order of painting.
class Svg {
 public:
  /// Opens a group. @param title tooltip of all that is in it; empty: none
  void open(std::string_view css_class, std::string_view title = {});
  void close();
  /// @param style attributes, as `fill="none" stroke="#000"`
  void box(std::string_view css_class, Box const& box, std::string_view style);
  /// One line of text; `at` is the left (middle, right) end of its baseline.
  void text(Point at, std::string_view text, Font const& font = {});
  /// Straight pieces through all points.
  void line(std::vector<Point> const& points, std::string_view style);
  /// Markup as it is.
  void raw(std::string_view markup) { out_ += markup; }
  /// All marks so far.
  [[nodiscard]] std::string const& marks() const { return out_; }
  /// The whole document.
  [[nodiscard]] std::string document(int width, int height) const;

 private:
  std::string out_;
};

}  // namespace berth::report
