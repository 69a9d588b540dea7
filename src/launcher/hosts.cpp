// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <launcher/launcher.hpp>

namespace berth::launcher {
namespace {

constexpr std::size_t most_names = 100'000;
constexpr std::size_t longest_list = std::size_t{1} << 20U;
constexpr std::size_t longest_name = 255;
constexpr long long largest_number = 999'999'999'999'999'999;

[[noreturn]] void refuse(std::string_view list, std::string_view reason) {
  constexpr std::size_t shown = 60;
  base::fail(Errc::bad_input,
             fmt::format("host list \"{}\": {}", base::printable(list, shown), reason));
}

bool may_stand_in_name(char c) {
  auto const value = static_cast<unsigned char>(c);
  return value > 0x20U && value < 0x7FU && c != '[' && c != ']' && c != ',' && c != '/';
}

/// Appends the numbers of "1", "01-03" as texts; the width of the first one is kept.
void append_range(std::string_view list, std::string_view range, std::vector<std::string>& out) {
  std::size_t const dash = range.find('-');
  std::string_view const first = range.substr(0, dash);
  std::string_view const last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  auto const low = base::parse_integer(first, 0, largest_number);
  auto const high = base::parse_integer(last, 0, largest_number);
  if (!low || !high)
    refuse(list, fmt::format("\"{}\" is not a number or a range", base::printable(range)));
  if (*low > *high) refuse(list, fmt::format("the range {} runs backwards", range));
  auto const wanted = static_cast<std::size_t>(*high - *low) + 1;
  if (wanted > most_names || out.size() + wanted > most_names)
    refuse(list, fmt::format("more than {} names", most_names));
  for (long long value = *low; value <= *high; ++value)
    out.push_back(fmt::format("{:0{}}", value, std::min(first.size(), longest_name)));
}

/// Every stem followed by every ending.
std::vector<std::string> combine(std::string_view list, std::vector<std::string> const& stems,
                                 std::vector<std::string> const& endings) {
  if (stems.size() * endings.size() > most_names)
    refuse(list, fmt::format("more than {} names", most_names));
  std::vector<std::string> out;
  out.reserve(stems.size() * endings.size());
  for (std::string const& stem : stems) {
    for (std::string const& ending : endings) {
      out.push_back(stem + ending);
      if (out.back().size() > longest_name)
        refuse(list, fmt::format("a name is longer than {} bytes", longest_name));
    }
  }
  return out;
}

/// Takes "[1-3,7]" from the front of `rest`.
std::vector<std::string> take_group(std::string_view list, std::string_view& rest) {
  std::size_t const close = rest.find(']');
  if (close == std::string_view::npos) refuse(list, "a bracket is not closed");
  std::vector<std::string> numbers;
  for (std::string const& range : base::split(rest.substr(1, close - 1), ','))
    append_range(list, range, numbers);
  rest.remove_prefix(close + 1);
  return numbers;
}

/// Takes one item, up to a comma outside brackets, from the front of `rest`.
std::vector<std::string> take_item(std::string_view list, std::string_view& rest) {
  std::vector<std::string> names(1);
  bool empty = true;
  while (!rest.empty() && rest.front() != ',') {
    empty = false;
    if (rest.front() == '[') {
      names = combine(list, names, take_group(list, rest));
      continue;
    }
    std::size_t length = 0;
    while (length < rest.size() && may_stand_in_name(rest[length])) ++length;
    if (length == 0) {
      refuse(list, fmt::format("\"{}\" cannot stand there", base::printable(rest.substr(0, 1))));
    }
    names = combine(list, names, {std::string(rest.substr(0, length))});
    rest.remove_prefix(length);
  }
  if (empty) refuse(list, "a name is empty");
  return names;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string const& list) {
  if (list.size() > longest_list) refuse(list, "longer than 1 MiB");
  std::vector<std::string> hosts;
  std::string_view rest = list;
  while (true) {
    std::vector<std::string> names = take_item(list, rest);
    if (hosts.size() + names.size() > most_names)
      refuse(list, fmt::format("more than {} names", most_names));
    std::move(names.begin(), names.end(), std::back_inserter(hosts));
    if (rest.empty()) return hosts;
    rest.remove_prefix(1);
  }
}

}  // namespace berth::launcher
