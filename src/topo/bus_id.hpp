// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace berth::topo {

/// Address of a PCI function. Ordered as the bus is, which text is not above domain ffff.
struct BusId {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  auto operator<=>(BusId const&) const = default;  // NOLINT(modernize-use-nullptr): its own zero
};

/// "0000:1b:00.0", also with a domain of up to 8 digits as NVML writes it and in capitals; absent
/// for anything else.
std::optional<BusId> parse_bus_id(std::string_view text);
/// "0000:1b:00.0": lower case, at least four digits of domain.
std::string format_bus_id(BusId const& id);

}  // namespace berth::topo
