// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <base/units.hpp>

namespace berth::base {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Length of the digits at the start of `text`.
std::size_t digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

struct ByteUnit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<ByteUnit, 14> byte_units = {{{"", 1},
                                                  {"B", 1},
                                                  {"K", 1ULL << 10U},
                                                  {"k", 1ULL << 10U},
                                                  {"KiB", 1ULL << 10U},
                                                  {"KB", 1000ULL},
                                                  {"M", 1ULL << 20U},
                                                  {"m", 1ULL << 20U},
                                                  {"MiB", 1ULL << 20U},
                                                  {"MB", 1000000ULL},
                                                  {"G", 1ULL << 30U},
                                                  {"g", 1ULL << 30U},
                                                  {"GiB", 1ULL << 30U},
                                                  {"GB", 1000000000ULL}}};

struct TimeUnit {
  std::string_view name;
  double milliseconds;
};

constexpr std::array<TimeUnit, 5> time_units = {
    {{"", 1e3}, {"ms", 1.0}, {"s", 1e3}, {"min", 60e3}, {"h", 3600e3}}};

constexpr double longest_milliseconds = 100.0 * 24 * 3600 * 1000;

/// Three significant digits without trailing zeros: 1.5, 64, 1023.
std::string three_digits(double value) {
  int const decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

}  // namespace

std::optional<std::size_t> parse_bytes(std::string_view text) {
  std::size_t const end = digits(text);
  if (end == 0) return std::nullopt;
  std::uint64_t number = 0;
  auto const [rest, error] = std::from_chars(text.data(), text.data() + end, number);
  if (error != std::errc{}) return std::nullopt;
  for (ByteUnit const& unit : byte_units) {
    if (text.substr(end) != unit.name) continue;
    if (number > std::numeric_limits<std::size_t>::max() / unit.factor) return std::nullopt;
    return number * unit.factor;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::size_t end = digits(text);
  if (end == 0) return std::nullopt;
  if (end < text.size() && text[end] == '.') {
    std::size_t const fraction = digits(text.substr(end + 1));
    if (fraction == 0) return std::nullopt;
    end += 1 + fraction;
  }
  double number = 0;
  auto const [rest, error] =
      std::from_chars(text.data(), text.data() + end, number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  for (TimeUnit const& unit : time_units) {
    if (text.substr(end) != unit.name) continue;
    double const milliseconds = number * unit.milliseconds;
    if (!(milliseconds <= longest_milliseconds)) return std::nullopt;
    // Up, so that a tiny but positive bound never becomes "no bound".
    double const whole = std::ceil(milliseconds - 1e-9);
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(number > 0 ? std::max(whole, 1.0) : 0));
  }
  return std::nullopt;
}

std::optional<long long> parse_integer(std::string_view text, long long low, long long high) {
  if (text.empty() || digits(text) != text.size()) return std::nullopt;
  long long number = 0;
  auto const [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < low || number > high) return std::nullopt;
  return number;
}

std::string format_bytes(std::size_t bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.5 would be shown as 1024: that is 1 of the next unit.
  while (value >= 1023.5 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

std::string format_count(unsigned long long number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string format_seconds(double seconds) {
  double const size = std::abs(seconds);
  int const decimals = size < 0.0005 && size > 0 ? 4
                       : size < 0.9995           ? 3
                       : size < 9.995            ? 2
                       : size < 99.95            ? 1
                                                 : 0;
  return fmt::format("{:.{}f} s", seconds, decimals);
}

}  // namespace berth::base
