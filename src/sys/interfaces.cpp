// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <sys/interfaces.hpp>
#include <sys/socket.h>

namespace berth::sys {
namespace {

Reach reach_of(sockaddr const* address) {
  if (address == nullptr) return Reach::none;
  // getifaddrs gives each family its whole structure.
  auto const endpoint = endpoint_of(address, sizeof(sockaddr_in6));
  if (!endpoint || is_loopback(endpoint->address)) return Reach::none;
  return is_link_local(endpoint->address) ? Reach::link_local : Reach::global;
}

/// Bits of a network mask.
int prefix_of(sockaddr const* mask) {
  auto const endpoint = endpoint_of(mask, sizeof(sockaddr_in6));
  int bits = 0;
  if (endpoint) {
    for (std::uint8_t const byte : endpoint->address.bytes) bits += std::popcount(byte);
  }
  return bits;
}

}  // namespace

std::optional<Endpoint> endpoint_of(void const* address, std::size_t bytes) {
  sa_family_t family = AF_UNSPEC;
  if (address == nullptr || bytes < sizeof family) return std::nullopt;
  std::memcpy(&family, address, sizeof family);
  Endpoint endpoint;
  if (family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, address, sizeof ipv4);
    endpoint.address.family = 4;
    std::memcpy(endpoint.address.bytes.data(), &ipv4.sin_addr, sizeof ipv4.sin_addr);
    endpoint.port = ntohs(ipv4.sin_port);
    return endpoint;
  }
  if (family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, address, sizeof ipv6);
    endpoint.address.family = 6;
    std::memcpy(endpoint.address.bytes.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
    endpoint.port = ntohs(ipv6.sin6_port);
    return endpoint;
  }
  return std::nullopt;
}

bool is_loopback(IpAddress const& address) {
  if (address.family == 4) return address.bytes[0] == 127;
  return std::all_of(address.bytes.begin(), address.bytes.end() - 1,
                     [](std::uint8_t byte) { return byte == 0; }) &&
         address.bytes[15] == 1;
}

bool is_link_local(IpAddress const& address) {
  if (address.family == 4) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

std::string text(IpAddress const& address) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  int const family = address.family == 4 ? AF_INET : AF_INET6;
  char const* const written =
      inet_ntop(family, address.bytes.data(), buffer.data(), static_cast<socklen_t>(buffer.size()));
  return written == nullptr ? std::string("?") : std::string(written);
}

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return all;
  for (ifaddrs const* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_name == nullptr || one->ifa_addr == nullptr) continue;
    if ((one->ifa_flags & IFF_UP) == 0) continue;
    auto const endpoint = endpoint_of(one->ifa_addr, sizeof(sockaddr_in6));
    if (endpoint) all.push_back({one->ifa_name, endpoint->address, prefix_of(one->ifa_netmask)});
  }
  freeifaddrs(list);
  return all;
}

std::map<std::string, Reach> interface_reach() {
  std::map<std::string, Reach> all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return all;
  for (ifaddrs const* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_name == nullptr) continue;
    Reach& best = all.try_emplace(one->ifa_name, Reach::none).first->second;
    best = std::max(best, reach_of(one->ifa_addr));
  }
  freeifaddrs(list);
  return all;
}

}  // namespace berth::sys
