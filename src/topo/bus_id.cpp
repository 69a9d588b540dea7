// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <fmt/format.h>

#include <topo/bus_id.hpp>

namespace berth::topo {
namespace {

// Takes a hexadecimal number that ends at `end`; absent when it has too few or too many digits.
std::optional<unsigned> take(std::string_view& text, char end, std::size_t fewest,
                             std::size_t most) {
  std::size_t const size = end == '\0' ? text.size() : text.find(end);
  if (size == std::string_view::npos || size < fewest || size > most) return {};
  unsigned value = 0;
  auto const [stop, error] = std::from_chars(text.data(), text.data() + size, value, 16);
  if (error != std::errc() || stop != text.data() + size) return {};
  text.remove_prefix(end == '\0' ? size : size + 1);
  return value;
}

}  // namespace

std::optional<BusId> parse_bus_id(std::string_view text) {
  auto const domain = take(text, ':', 4, 8);
  if (!domain) return {};
  auto const bus = take(text, ':', 2, 2);
  if (!bus) return {};
  auto const device = take(text, '.', 2, 2);
  if (!device || *device > 0x1f) return {};
  auto const function = take(text, '\0', 1, 1);
  if (!function || *function > 7) return {};
  return BusId{*domain, *bus, *device, *function};
}

std::string format_bus_id(BusId const& id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", id.domain, id.bus, id.device, id.function);
}

}  // namespace berth::topo
