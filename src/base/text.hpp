// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::base {

/// Splits at every `separator`; "" gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
/// Joins with `separator`.
std::string join(std::vector<std::string> const& pieces, std::string_view separator);
/// Without spaces, tabs and newlines at both ends.
std::string_view trim(std::string_view text);
/// The known name with the smallest edit distance; empty when none is close enough to be meant.
std::string nearest(std::string_view word, std::vector<std::string> const& known);
/// Control characters and bytes that are not UTF-8 become '?', so that hostile input cannot
/// confuse a terminal; cut to `limit` bytes at a character boundary.
std::string printable(std::string_view text, std::size_t limit = 120);

}  // namespace berth::base
