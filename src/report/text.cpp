// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <report/text.hpp>

namespace berth::report {
namespace {

std::string cell(std::string const& text, std::size_t width, bool right) {
  return right ? fmt::format("{:>{}}", text, width) : fmt::format("{:<{}}", text, width);
}

/// A line without spaces at its end, cut where it is too long.
std::string line(std::string text) {
  constexpr std::string_view more = "...";
  text.erase(text.find_last_not_of(' ') + 1);
  if (text.size() > columns) text.replace(columns - more.size(), std::string::npos, more);
  return text + "\n";
}

}  // namespace

std::string counted(long long number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string hanging(std::string const& first, std::string_view text) {
  std::string const indent(first.size(), ' ');
  std::string out = first;
  std::size_t used = first.size();
  bool is_fresh = true;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find(' '), text.size());
    std::string_view const word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!is_fresh && used + 1 + word.size() > columns) {
      out += "\n" + indent;
      used = indent.size();
      is_fresh = true;
    }
    if (!is_fresh) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    is_fresh = false;
  }
  return out + "\n";
}

std::string table(std::vector<Column> const& titles,
                  std::vector<std::vector<std::string>> const& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::size_t width = titles[i].title.size();
    for (auto const& row : rows) width = std::max(width, row.at(i).size());
    widths.push_back(width);
  }
  std::string text;
  std::string head;
  for (std::size_t i = 0; i < titles.size(); ++i)
    head += (i == 0 ? " " : "  ") + cell(titles[i].title, widths[i], titles[i].right);
  text += line(head);
  for (auto const& row : rows) {
    std::string body;
    for (std::size_t i = 0; i < titles.size(); ++i)
      body += (i == 0 ? " " : "  ") + cell(row[i], widths[i], titles[i].right);
    text += line(body);
  }
  return text;
}

}  // namespace berth::report
