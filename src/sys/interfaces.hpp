// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Addresses of network interfaces.
namespace berth::sys {

/// The best address an interface has.
enum class Reach {
  none,        ///< no IP address
  link_local,  ///< 169.254.0.0/16, fe80::/10
  global,      ///< anything that another network can answer to, private ranges included
};

/// Per interface that has an address: what it can reach. Loopback addresses do not count; empty
/// when the kernel does not tell.
std::map<std::string, Reach> interface_reach();

/// An IP address; IPv4 fills the first 4 bytes. Plain data.
struct IpAddress {
  std::uint8_t family = 0;  ///< 4 or 6
  std::array<std::uint8_t, 16> bytes{};
  friend bool operator==(IpAddress const&, IpAddress const&) = default;
};

/// An address and the network it is in.
struct InterfaceAddress {
  std::string name;  ///< "eth0"
  IpAddress address;
  int prefix = 0;  ///< bits of the network
};

/// An address and a port.
struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
};

/// Every address of every interface that is up, loopback included, in the kernel's order.
std::vector<InterfaceAddress> interface_addresses();

/// The address in a sockaddr of `bytes` bytes; absent when it is neither IPv4 nor IPv6.
std::optional<Endpoint> endpoint_of(void const* address, std::size_t bytes);

/// 127.0.0.0/8, ::1.
bool is_loopback(IpAddress const& address);
/// 169.254.0.0/16, fe80::/10.
bool is_link_local(IpAddress const& address);
/// "10.1.2.3", "fd00::1".
std::string text(IpAddress const& address);

}  // namespace berth::sys
