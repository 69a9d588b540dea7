// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nccl/identity.hpp>

namespace berth::nccl {

namespace {

constexpr std::size_t secret_bytes = 8;

/// Bridges between a machine and what runs inside it: their addresses mean nothing elsewhere.
bool is_inner_bridge(std::string_view name) {
  constexpr std::string_view bridges[] = {"docker", "virbr", "br-", "veth", "cni", "lxc", "podman"};
  return std::any_of(std::begin(bridges), std::end(bridges),
                     [&](std::string_view bridge) { return name.starts_with(bridge); });
}

}  // namespace

Id::~Id() {
  // Through volatile, so that the compiler keeps the stores to what nobody reads any more.
  std::byte volatile* const memory = bytes.data();
  for (std::size_t i = 0; i < bytes.size(); ++i) memory[i] = std::byte{0};
}

std::optional<sys::Endpoint> root_of(Id const& id) {
  return sys::endpoint_of(id.bytes.data() + secret_bytes, id.bytes.size() - secret_bytes);
}

std::string objection(sys::Endpoint const& root, std::vector<sys::InterfaceAddress> const& own) {
  std::string const where = fmt::format("rank 0's NCCL listens on {}", sys::text(root.address));
  char const* const cure = "name the interface that all hosts share in NCCL_SOCKET_IFNAME";
  if (sys::is_loopback(root.address)) {
    return fmt::format("{}, a loopback address, which no other host reaches; {}", where, cure);
  }
  if (sys::is_link_local(root.address)) {
    return fmt::format("{}, a link-local address, which no other network reaches; {}", where, cure);
  }
  for (sys::InterfaceAddress const& one : own) {
    if (one.address == root.address) {
      return fmt::format("{}, which is {} of this host too; {}", where, one.name, cure);
    }
  }
  return {};
}

std::vector<sys::InterfaceAddress> outward(std::vector<sys::InterfaceAddress> const& all) {
  std::vector<sys::InterfaceAddress> good;
  for (sys::InterfaceAddress const& one : all) {
    bool const is_inner = sys::is_loopback(one.address) || sys::is_link_local(one.address) ||
                          is_inner_bridge(one.name);
    if (!is_inner) good.push_back(one);
  }
  // As NCCL itself prefers: InfiniBand first, and IPv4 before IPv6.
  auto const rank_of = [](sys::InterfaceAddress const& one) {
    return (one.name.starts_with("ib") ? 0 : 2) + (one.address.family == 4 ? 0 : 1);
  };
  std::stable_sort(good.begin(), good.end(),
                   [&](auto const& a, auto const& b) { return rank_of(a) < rank_of(b); });
  return good;
}

bool same_network(sys::InterfaceAddress const& a, sys::InterfaceAddress const& b) {
  if (a.address.family != b.address.family || a.prefix != b.prefix) return false;
  for (int bit = 0; bit < a.prefix; ++bit) {
    auto const byte = static_cast<std::size_t>(bit / 8);
    unsigned const mask = 0x80U >> static_cast<unsigned>(bit % 8);
    if ((a.address.bytes[byte] & mask) != (b.address.bytes[byte] & mask)) return false;
  }
  return true;
}

}  // namespace berth::nccl
