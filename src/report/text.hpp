// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How texts for people are made. Pure.
namespace berth::report {

/// What the reader's terminal can show.
struct Style {
  bool utf8 = false;  ///< the locale is UTF-8; otherwise ASCII
};

/// Texts fit this many columns.
inline constexpr std::size_t columns = 100;

/// "1 rank", "2 ranks".
std::string counted(long long number, std::string_view noun);
/// `first` followed by `text`, broken at spaces; further lines are indented by the width of
/// `first`. Ends with a newline.
std::string hanging(std::string const& first, std::string_view text);

/// A column of a table.
struct Column {
  std::string title;
  bool right = false;  ///< numbers are aligned to the right
};
/// Rows under their titles, each column as wide as its widest cell, two spaces apart, one space
/// before the first. A cell that would pass the last column is cut and ends with "...".
std::string table(std::vector<Column> const& titles,
                  std::vector<std::vector<std::string>> const& rows);

}  // namespace berth::report
