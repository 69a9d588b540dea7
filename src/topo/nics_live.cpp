// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <sys/host.hpp>
#include <sys/sysfs.hpp>
#include <topo/locality.hpp>
#include <topo/nics.hpp>

namespace berth::topo {
namespace {

// Fills the place of what hangs at the folder (a link in the live sysfs) `device`.
void fill_place(hwloc_topology_t topology, std::string const& root, std::string const& device,
                model::Node const& node, NicFacts& one) {
  std::vector<std::string> const path = sys::resolved(device);
  auto const id = bus_id_on_path(path);
  if (id) one.nic.bus_id = format_bus_id(*id);
  bool const on_usb = std::any_of(path.begin(), path.end(), [](std::string const& part) {
    return part.size() > 3 && part.rfind("usb", 0) == 0;
  });
  // The way to a service processor, or a stick.
  if (on_usb && one.refusal.empty()) one.refusal = "on USB";
  hwloc_obj_t const pci =
      id ? hwloc_get_pcidev_by_busid(topology, id->domain, id->bus, id->device, id->function)
         : nullptr;
  Locality place =
      pci != nullptr ? locality_of(topology, pci, node, root) : locality_of_folder(device, node);
  one.nic.numa = place.numa;
  one.nic.package = place.package;
  one.nic.bridges = std::move(place.bridges);
  auto const physical = sys::resolved(device + "/physfn");
  if (auto const owner = bus_id_on_path(physical)) one.function_of = format_bus_id(*owner);
}

// "4: ACTIVE", "200 Gb/sec (4X HDR)"
std::vector<PortFacts> read_ports(std::string const& folder) {
  std::vector<PortFacts> ports;
  for (std::string const& name : sys::list_folder(folder)) {
    auto const number = base::parse_integer(name, 1, 255);
    if (!number) continue;
    std::string const port = fmt::format("{}/{}", folder, name);
    PortFacts one;
    one.number = static_cast<int>(*number);
    std::string const state = sys::read_small_file(port + "/state", 64);
    one.state = static_cast<int>(base::parse_integer(state.substr(0, 1), 0, 9).value_or(0));
    std::string const rate = sys::read_small_file(port + "/rate", 64);
    if (!rate.empty() && rate[0] >= '0' && rate[0] <= '9') {
      one.gbps = std::min(std::strtod(rate.c_str(), nullptr), 1e6);
    }
    ports.push_back(one);
  }
  std::sort(ports.begin(), ports.end(),
            [](PortFacts const& a, PortFacts const& b) { return a.number < b.number; });
  return ports;
}

NicFacts read_verbs(hwloc_topology_t topology, std::string const& root, std::string const& name,
                    model::Node const& node) {
  std::string const folder = root + "/sys/class/infiniband/" + name;
  NicFacts one;
  one.verbs = true;
  one.nic.name = base::printable(name, 32);
  one.ports = read_ports(folder + "/ports");
  // Soft RoCE and soft iWARP have no device.
  if (!sys::exists(folder + "/device")) one.refusal = "virtual";
  fill_place(topology, root, folder + "/device", node, one);
  return one;
}

std::vector<std::string> interfaces_below(std::string const& folder) {
  std::vector<std::string> names;
  std::string const prefix = "lower_";
  for (std::string const& name : sys::list_folder(folder)) {
    if (name.rfind(prefix, 0) == 0) names.push_back(name.substr(prefix.size()));
  }
  std::string const slaves = sys::read_small_file(folder + "/bonding/slaves", 4096);
  for (std::string const& name : base::split(slaves, ' ')) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

// Ethernet, and IP over InfiniBand where its verbs device is hidden.
bool is_network_card(std::string const& type) {
  return type.empty() || type == "1" || type == "32";
}

void read_link(std::string const& folder, NicFacts& one) {
  std::string const state = sys::read_small_file(folder + "/operstate", 32);
  std::string const carrier = sys::read_small_file(folder + "/carrier", 8);
  // Some drivers never say more than "unknown"; then the carrier decides.
  one.up = state == "up" || (state == "unknown" && carrier == "1");
  auto const flags = sys::read_small_file(folder + "/flags", 16);
  if (!flags.empty() && (std::strtoul(flags.c_str(), nullptr, 16) & 1U) == 0) one.up = false;
  // -1 or an error where the driver does not know.
  auto const megabits =
      base::parse_integer(sys::read_small_file(folder + "/speed", 32), 0, 100000000);
  if (megabits) {
    one.nic.gbps = static_cast<double>(*megabits) / 1000.0;
    one.no_speed = *megabits == 0;
  }
}

NicFacts read_interface(hwloc_topology_t topology, std::string const& root, std::string const& name,
                        model::Node const& node) {
  constexpr char const* cray = "0x17db";
  std::string const folder = root + "/sys/class/net/" + name;
  NicFacts one;
  one.nic.name = base::printable(name, 32);
  one.below = interfaces_below(folder);
  one.slingshot = sys::read_small_file(folder + "/device/vendor", 16) == cray;
  bool const hardware = sys::exists(folder + "/device");
  if (!hardware || is_virtual_name(name) ||
      !is_network_card(sys::read_small_file(folder + "/type", 16))) {
    one.refusal = "virtual";
  } else if (sys::exists(folder + "/wireless") || sys::exists(folder + "/phy80211")) {
    one.refusal = "wireless";
  }
  read_link(folder, one);
  if (hardware) fill_place(topology, root, folder + "/device", node, one);
  return one;
}

}  // namespace

std::vector<NicFacts> live_nics(hwloc_topology_t topology, std::string const& root,
                                std::optional<std::map<std::string, sys::Reach>> const& reach,
                                model::Node const& node) {
  std::vector<NicFacts> all;
  for (std::string const& name : sys::list_folder(root + "/sys/class/infiniband")) {
    all.push_back(read_verbs(topology, root, name, node));
  }
  for (std::string const& name : sys::list_folder(root + "/sys/class/net")) {
    // bonding_masters is a file among the folders.
    if (!sys::exists(fmt::format("{}/sys/class/net/{}/operstate", root, name))) continue;
    NicFacts one = read_interface(topology, root, name, node);
    if (reach) {
      auto const known = reach->find(name);
      one.reach = known != reach->end() ? known->second : sys::Reach::none;
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace berth::topo
