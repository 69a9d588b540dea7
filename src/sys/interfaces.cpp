// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <sys/interfaces.hpp>
#include <sys/socket.h>

namespace berth::sys {
namespace {

Reach reach_of(sockaddr const* address) {
  if (address == nullptr) return Reach::none;
  if (address->sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, address, sizeof ipv4);
    auto const number = ntohl(ipv4.sin_addr.s_addr);
    if (number >> 24U == 127) return Reach::none;
    return number >> 16U == 0xa9fe ? Reach::link_local : Reach::global;
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, address, sizeof ipv6);
    unsigned const head = ipv6.sin6_addr.s6_addr[0] * 256U + ipv6.sin6_addr.s6_addr[1];
    in6_addr const loopback = IN6ADDR_LOOPBACK_INIT;
    if (std::memcmp(&ipv6.sin6_addr, &loopback, sizeof loopback) == 0) return Reach::none;
    return (head & 0xffc0U) == 0xfe80U ? Reach::link_local : Reach::global;
  }
  return Reach::none;
}

}  // namespace

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
