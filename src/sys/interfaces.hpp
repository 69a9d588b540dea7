// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

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

}  // namespace berth::sys
