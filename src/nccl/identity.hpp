// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/interfaces.hpp>

namespace berth::nccl {

/// The 128 bytes of an ncclUniqueId: 8 secret ones, then the address of the root, then zeros
/// (measured on NCCL 2.28.9). The secret never leaves this type except over MPI; wiped when it
/// ends.
struct Id {
  std::array<std::byte, 128> bytes{};
  Id() = default;
  Id(Id const&) = default;
  Id& operator=(Id const&) = default;
  ~Id();
};

/// Where the root of an id listens; absent when the bytes are not an IP address.
std::optional<sys::Endpoint> root_of(Id const& id);

/// What is wrong with a root's address for ranks of other hosts; empty: nothing is known to be.
/// @param own interfaces of the host that asks, which is not the root's
std::string objection(sys::Endpoint const& root, std::vector<sys::InterfaceAddress> const& own);

/// Names of the interfaces, best first, that can carry traffic to other hosts: up, not loopback,
/// not link-local, not a bridge of containers or virtual machines.
std::vector<sys::InterfaceAddress> outward(std::vector<sys::InterfaceAddress> const& all);

/// True when both addresses are in the network of `a`.
bool same_network(sys::InterfaceAddress const& a, sys::InterfaceAddress const& b);

}  // namespace berth::nccl
