// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <base/text.hpp>
#include <report/svg.hpp>

namespace berth::report {
namespace {

/// No text of a picture is longer, tooltips included.
constexpr std::size_t most_bytes = 2000;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (char const c : text) count += continues(c) ? 0 : 1;
  return count;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string const clean = base::printable(text, most_bytes);
  std::string out;
  out.reserve(clean.size());
  for (std::size_t i = 0; i < clean.size(); ++i) {
    std::string_view const rest = std::string_view(clean).substr(i, 3);
    if (rest == "\xEF\xBF\xBE" || rest == "\xEF\xBF\xBF") {  // characters that XML has not
      out += '?';
      i += 2;
    } else if (clean[i] == '&') {
      out += "&amp;";
    } else if (clean[i] == '<') {
      out += "&lt;";
    } else if (clean[i] == '>') {
      out += "&gt;";
    } else if (clean[i] == '"') {
      out += "&quot;";
    } else if (clean[i] == '\'') {
      out += "&#39;";
    } else {
      out += clean[i];
    }
  }
  return out;
}

int text_width(std::string_view text, int size) {
  // 0.62 of the size per character: what wide fonts such as DejaVu Sans need on average.
  return static_cast<int>((characters(text) * static_cast<std::size_t>(size) * 62 + 99) / 100);
}

std::string fitted(std::string_view text, int width, int size) {
  if (text_width(text, size) <= width) return std::string(text);
  std::string out(text.substr(0, most_bytes));
  while (!out.empty() && text_width(out + "...", size) > width) {
    while (out.size() > 1 && continues(out.back())) out.pop_back();
    out.pop_back();
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + "...";
}

void Svg::open(std::string_view css_class, std::string_view title) {
  out_ += fmt::format("<g class=\"{}\">", css_class);
  if (!title.empty()) out_ += fmt::format("<title>{}</title>", xml_text(title));
  out_ += '\n';
}

void Svg::close() {
  out_ += "</g>\n";
}

void Svg::box(std::string_view css_class, Box const& box, std::string_view style) {
  out_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n",
                      css_class, box.x, box.y, box.width, box.height, style);
}

void Svg::text(Point at, std::string_view text, Font const& font) {
  if (text.empty()) return;
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", at.x, at.y, font.size,
                      font.colour);
  if (font.anchor != "start") out_ += fmt::format(" text-anchor=\"{}\"", font.anchor);
  if (font.bold) out_ += " font-weight=\"bold\"";
  out_ += fmt::format(">{}</text>\n", xml_text(text));
}

void Svg::line(std::vector<Point> const& points, std::string_view style) {
  out_ += "<polyline points=\"";
  for (std::size_t i = 0; i < points.size(); ++i)
    out_ += fmt::format("{}{},{}", i == 0 ? "" : " ", points[i].x, points[i].y);
  out_ += fmt::format("\" {}/>\n", style);
}

std::string Svg::document(int width, int height) const {
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0}\" "
             "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu "
             "Sans', sans-serif\">\n",
             width, height) +
         out_ + "</svg>\n";
}

}  // namespace berth::report
