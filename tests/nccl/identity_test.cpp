// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl/identity.hpp>
#include <netinet/in.h>

namespace berth::nccl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

sys::IpAddress ip(char const* text) {
  sys::IpAddress address;
  address.family = std::strchr(text, ':') == nullptr ? 4 : 6;
  EXPECT_EQ(inet_pton(address.family == 4 ? AF_INET : AF_INET6, text, address.bytes.data()), 1);
  return address;
}

sys::InterfaceAddress interface(char const* name, char const* address, int prefix) {
  return {name, ip(address), prefix};
}

/// An id as NCCL 2.28.9 makes it: magic, sockaddr, zeros.
Id id_at(char const* address, std::uint16_t port) {
  Id id;
  std::memset(id.bytes.data(), 0xAB, 8);
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, address, &ipv4.sin_addr), 1);
  std::memcpy(id.bytes.data() + 8, &ipv4, sizeof ipv4);
  return id;
}

TEST(Id, TellsWhereItsRootListens) {
  auto const root = root_of(id_at("10.1.2.3", 42311));
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(sys::text(root->address), "10.1.2.3");
  EXPECT_EQ(root->port, 42311);
}

TEST(Id, OfZerosHasNoRoot) {
  EXPECT_FALSE(root_of(Id{}).has_value());
}

TEST(Id, IsWipedWhenItEnds) {
  alignas(Id) unsigned char memory[sizeof(Id)];
  Id* const id = new (memory) Id(id_at("10.1.2.3", 1));
  id->~Id();
  for (std::size_t i = 0; i < sizeof(Id::bytes); ++i) EXPECT_EQ(memory[i], 0) << i;
}

std::string against(char const* address) {
  sys::Endpoint const root{ip(address), 4000};
  return objection(root, {interface("lo", "127.0.0.1", 8), interface("eth0", "10.1.0.7", 16),
                          interface("docker0", "172.17.0.1", 16)});
}

TEST(Objection, IsRaisedToAddressesThatNoOtherHostReaches) {
  EXPECT_THAT(against("127.0.0.1"), HasSubstr("loopback"));
  EXPECT_THAT(against("::1"), HasSubstr("loopback"));
  EXPECT_THAT(against("169.254.3.4"), HasSubstr("link-local"));
  EXPECT_THAT(against("fe80::1"), HasSubstr("link-local"));
  EXPECT_THAT(against("172.17.0.1"), HasSubstr("docker0 of this host too"));
  for (char const* address : {"127.0.0.1", "169.254.3.4", "172.17.0.1"})
    EXPECT_THAT(against(address), HasSubstr("NCCL_SOCKET_IFNAME")) << address;
}

TEST(Objection, IsNotRaisedToOthers) {
  EXPECT_EQ(against("10.1.0.8"), "");
  EXPECT_EQ(against("192.168.7.7"), "") << "may be routed";
  EXPECT_EQ(against("fd00::12"), "");
}

std::vector<std::string> names(std::vector<sys::InterfaceAddress> const& all) {
  std::vector<std::string> names;
  for (sys::InterfaceAddress const& one : all) names.push_back(one.name);
  return names;
}

TEST(Outward, LeavesInnerOnesOutAndPrefersInfiniBand) {
  EXPECT_THAT(
      names(outward({interface("lo", "127.0.0.1", 8), interface("docker0", "172.17.0.1", 16),
                     interface("eth0", "fe80::1", 64), interface("eth0", "fd00::1", 64),
                     interface("eth1", "10.1.0.7", 16), interface("ib0", "10.9.0.7", 16),
                     interface("br-12ab", "172.18.0.1", 16)})),
      ElementsAre("ib0", "eth1", "eth0"));
}

TEST(Network, IsTheSameForEqualLeadingBits) {
  auto const a = interface("eth0", "10.1.0.7", 16);
  EXPECT_TRUE(same_network(a, interface("bond0", "10.1.255.3", 16)));
  EXPECT_FALSE(same_network(a, interface("eth0", "10.2.0.7", 16)));
  EXPECT_FALSE(same_network(a, interface("eth0", "10.1.0.7", 24)));
  EXPECT_FALSE(same_network(a, interface("eth0", "fd00::7", 16)));
  EXPECT_TRUE(same_network(interface("a", "10.1.0.129", 25), interface("b", "10.1.0.200", 25)));
  EXPECT_FALSE(same_network(interface("a", "10.1.0.129", 25), interface("b", "10.1.0.1", 25)));
}

}  // namespace
}  // namespace berth::nccl
