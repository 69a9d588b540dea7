// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Which interface NCCL_SOCKET_IFNAME means: a list of prefixes, or after = of whole names; after ^
/// those are left out.
#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <ifaddrs.h>
#include <net/if.h>

#include "log.hpp"
#include "settings.hpp"
#include "socket.hpp"

namespace standin {
namespace {

struct Choice {
  std::vector<std::string> names;
  bool exclude = false;
  bool exact = false;

  explicit Choice(std::string list) {
    exclude = list.rfind('^', 0) == 0;
    if (exclude) list.erase(0, 1);
    exact = list.rfind('=', 0) == 0;
    if (exact) list.erase(0, 1);
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');) names.push_back(word);
  }

  bool takes(std::string const& name) const {
    bool const listed = std::any_of(names.begin(), names.end(), [&](std::string const& each) {
      return exact ? name == each : name.rfind(each, 0) == 0;
    });
    return listed != exclude;
  }
};

/// The first interface that is up and wanted; "" when there is none.
std::string find(Choice const& choice, Address& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) fail(ncclSystemError, "getifaddrs failed");
  std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> const owner(list, &freeifaddrs);
  for (ifaddrs const* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    int const family = each->ifa_addr->sa_family;
    if ((family != AF_INET && family != AF_INET6) || !choice.takes(each->ifa_name)) continue;
    address = Address();
    std::memcpy(&address.plain, each->ifa_addr,
                family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    return each->ifa_name;
  }
  return "";
}

std::string chosen(Address& address) {
  std::string list = setting("NCCL_SOCKET_IFNAME");
  if (list.empty()) list = "=lo";
  std::string name = find(Choice(list), address);
  if (name.empty()) {
    fail(ncclInvalidUsage,
         "Bootstrap : no socket interface found (NCCL_SOCKET_IFNAME=" + list + ")");
  }
  return name;
}

}  // namespace

Address interface_address() {
  Address address;
  chosen(address);
  return address;
}

std::string interface_name() {
  Address address;
  return chosen(address);
}

}  // namespace standin
