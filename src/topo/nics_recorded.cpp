// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <topo/locality.hpp>
#include <topo/nics.hpp>

namespace berth::topo {
namespace {

hwloc_obj_t pci_above(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

std::vector<PortFacts> recorded_ports(hwloc_obj_t os_device) {
  constexpr int most_ports = 16;
  std::vector<PortFacts> ports;
  for (int number = 1; number <= most_ports; ++number) {
    std::string const state = info(os_device, fmt::format("Port{}State", number).c_str());
    auto const value = base::parse_integer(base::trim(state).substr(0, 1), 0, 9);
    if (value) ports.push_back({number, static_cast<int>(*value), {}});
  }
  return ports;
}

bool is_slingshot(hwloc_obj_t os_device, hwloc_obj_t pci) {
  // Interfaces named hsn or hsi are not enough: sites call IP over InfiniBand so, too.
  constexpr unsigned cray = 0x17db;
  return pci->attr->pcidev.vendor_id == cray ||
         (os_device->subtype != nullptr && std::string_view(os_device->subtype) == "Slingshot");
}

}  // namespace

std::vector<NicFacts> recorded_nics(hwloc_topology_t topology, model::Node const& node) {
  std::vector<NicFacts> all;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_osdev(topology, object)) != nullptr) {
    auto const type = object->attr->osdev.type;
    bool const verbs = type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    if (object->name == nullptr || (!verbs && type != HWLOC_OBJ_OSDEV_NETWORK)) continue;
    NicFacts one;
    one.verbs = verbs;
    one.nic.name = base::printable(object->name, 32);
    hwloc_obj_t const pci = pci_above(object);
    // Without hardware behind it an interface is a bridge, a tunnel, soft RoCE.
    if (pci == nullptr || (!verbs && is_virtual_name(one.nic.name))) {
      one.refusal = "virtual";
      all.push_back(std::move(one));
      continue;
    }
    one.slingshot = !verbs && is_slingshot(object, pci);
    if (verbs) one.ports = recorded_ports(object);
    Locality place = locality_of(topology, pci, node, std::nullopt);
    one.nic.bus_id = format_bus_id(bus_id_of(pci->attr->pcidev));
    one.nic.numa = place.numa;
    one.nic.package = place.package;
    one.nic.bridges = std::move(place.bridges);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace berth::topo
