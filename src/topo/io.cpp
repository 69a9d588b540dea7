// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <sys/host.hpp>
#include <topo/io.hpp>

namespace berth::topo {
namespace {

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

std::string bus_id(PciAttributes const& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain),
                     static_cast<unsigned>(pci.bus), static_cast<unsigned>(pci.dev),
                     static_cast<unsigned>(pci.func));
}

// Bus order; as text it would break with domains above ffff.
std::tuple<unsigned, unsigned, unsigned, unsigned> bus_order(PciAttributes const& pci) {
  return {pci.domain, pci.bus, pci.dev, pci.func};
}

bool is_device(PciAttributes const& pci) {
  constexpr unsigned nvidia = 0x10de;
  constexpr unsigned amd = 0x1002;
  constexpr unsigned intel = 0x8086;
  constexpr unsigned habana = 0x1da3;
  // The display part of an Intel processor, or its small NPU, is nothing to put a rank on.
  if (pci.vendor_id == intel && pci.bus == 0) return false;
  bool const gpu_vendor = pci.vendor_id == nvidia || pci.vendor_id == amd || pci.vendor_id == intel;
  switch (pci.class_id) {
    case 0x0300:  // VGA: also the service processors of servers, which have other vendors
    case 0x0302:  // 3D controller
    case 0x0380:  // other display controller
      return gpu_vendor;
    case 0x1200:  // processing accelerator
      return gpu_vendor || pci.vendor_id == habana;
    default:
      return false;
  }
}

/// Where an I/O object hangs.
struct Locality {
  int numa = -1;
  int package = -1;
  model::PuSet pus;
};

// The index in node.numa_nodes of an OS index; -1: none.
int numa_by_os_index(model::Node const& node, long long os_index) {
  for (std::size_t i = 0; i < node.numa_nodes.size(); ++i) {
    if (node.numa_nodes[i].os_index == os_index) return static_cast<int>(i);
  }
  return -1;
}

bool is_only_domain(model::Node const& node) {
  return std::count_if(node.numa_nodes.begin(), node.numa_nodes.end(), [](auto const& numa) {
           return !numa.pus.empty() && is_main_memory(numa);
         }) <= 1;
}

// An ancestor whose processors a restriction has removed is still known by its memory.
int numa_of_memory(hwloc_obj_t ancestor, model::Node const& node) {
  if (ancestor->nodeset == nullptr || hwloc_bitmap_weight(ancestor->nodeset) != 1) return -1;
  return numa_by_os_index(node, hwloc_bitmap_first(ancestor->nodeset));
}

Locality locality_of(hwloc_topology_t topology, hwloc_obj_t pci, model::Node const& node,
                     std::optional<std::string> const& sysfs_root) {
  Locality place;
  hwloc_obj_t const ancestor = hwloc_get_non_io_ancestor_obj(topology, pci);
  bool const below_machine = ancestor != nullptr && ancestor->type != HWLOC_OBJ_MACHINE;
  if (below_machine) {
    place.pus = to_pus(ancestor->cpuset);
    place.numa = place.pus.empty() ? numa_of_memory(ancestor, node) : numa_of(node, place.pus);
    place.package = ancestor_index(topology, HWLOC_OBJ_PACKAGE, ancestor);
    if (ancestor->type == HWLOC_OBJ_PACKAGE)
      place.package = static_cast<int>(ancestor->logical_index);
  }
  if (place.numa < 0 && is_only_domain(node)) {
    for (std::size_t i = 0; i < node.numa_nodes.size(); ++i) {
      if (node.numa_nodes[i].pus.empty() || !is_main_memory(node.numa_nodes[i])) continue;
      place.numa = static_cast<int>(i);
    }
  }
  if (place.numa < 0 && sysfs_root) {
    std::string const path =
        *sysfs_root + "/sys/bus/pci/devices/" + bus_id(pci->attr->pcidev) + "/numa_node";
    auto const os_index = base::parse_integer(sys::read_small_file(path, 16), 0, 65535);
    if (os_index) place.numa = numa_by_os_index(node, *os_index);
  }
  if (place.numa >= 0) {
    model::NumaNode const& numa = node.numa_nodes[static_cast<std::size_t>(place.numa)];
    if (place.package < 0) place.package = numa.package;
    if (place.pus.empty()) place.pus = numa.pus;
  }
  if (place.package < 0 && node.packages == 1) place.package = 0;
  return place;
}

std::vector<std::string> bridges_above(hwloc_obj_t pci) {
  std::vector<std::string> bridges;
  for (hwloc_obj_t up = pci->parent; up != nullptr && up->type == HWLOC_OBJ_BRIDGE;
       up = up->parent) {
    auto const& bridge = up->attr->bridge;
    if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
      bridges.push_back(bus_id(bridge.upstream.pci));
    } else {
      bridges.push_back(fmt::format("host{:04x}:{:02x}",
                                    static_cast<unsigned>(bridge.downstream.pci.domain),
                                    static_cast<unsigned>(bridge.downstream.pci.secondary_bus)));
    }
  }
  return bridges;
}

// Partitions (CPX, TPX) share one PCI object but each has its management object below it.
int partitions_of(hwloc_obj_t pci) {
  int count = 0;
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling) {
    bool const counted = child->type == HWLOC_OBJ_OS_DEVICE && child->subtype != nullptr &&
                         std::string_view(child->subtype) == "RSMI";
    if (counted) ++count;
  }
  return std::max(1, count);
}

std::string model_of(hwloc_obj_t pci) {
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling) {
    std::string name = info(child, "GPUModel");
    if (!name.empty()) return name;
  }
  return info(pci, "PCIDevice");
}

// A verbs device: InfiniBand, RoCE, EFA, Omni-Path. hwloc tells the state of its ports; a virtual
// function or EFA may have none to tell.
bool has_active_port(hwloc_obj_t os_device) {
  constexpr int most_ports = 16;
  bool told = false;
  for (int port = 1; port <= most_ports; ++port) {
    std::string const state = info(os_device, fmt::format("Port{}State", port).c_str());
    if (state.empty()) continue;
    told = true;
    if (base::trim(state).substr(0, 1) == "4") return true;
  }
  return !told;
}

// "200 Gb/sec (4X HDR)" of the fastest active port; 0: not known.
double verbs_speed(std::string const& root, std::string const& name) {
  double best = 0;
  for (int port = 1; port <= 16; ++port) {
    std::string const folder = fmt::format("{}/sys/class/infiniband/{}/ports/{}", root, name, port);
    std::string const rate = sys::read_small_file(folder + "/rate", 64);
    if (rate.empty()) break;
    if (sys::read_small_file(folder + "/state", 64).substr(0, 1) != "4") continue;
    best = std::max(best, std::strtod(rate.c_str(), nullptr));
  }
  return best;
}

/// An interface of the kernel's network stack, from sysfs.
struct Interface {
  bool up = true;
  double gbps = 0;
};

Interface read_interface(std::string const& root, std::string const& name) {
  std::string const folder = root + "/sys/class/net/" + name;
  Interface interface;
  interface.up = sys::read_small_file(folder + "/operstate", 32) == "up";
  // -1 or an error where the driver does not know.
  auto const megabits =
      base::parse_integer(sys::read_small_file(folder + "/speed", 32), 1, 100000000);
  if (megabits) interface.gbps = static_cast<double>(*megabits) / 1000.0;
  return interface;
}

hwloc_obj_t pci_above(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

// False: it cannot be used.
bool fill_nic(hwloc_obj_t os_device, PciAttributes const& pci,
              std::optional<std::string> const& root, model::Nic& nic) {
  // Interfaces named hsn or hsi are not enough: sites call IP over InfiniBand so, too.
  constexpr unsigned cray = 0x17db;
  bool const slingshot =
      pci.vendor_id == cray ||
      (os_device->subtype != nullptr && std::string_view(os_device->subtype) == "Slingshot");
  switch (os_device->attr->osdev.type) {
    case HWLOC_OBJ_OSDEV_OPENFABRICS:
      nic.fabric = true;
      if (root) nic.gbps = verbs_speed(*root, nic.name);
      return has_active_port(os_device);
    case HWLOC_OBJ_OSDEV_NETWORK: {
      nic.fabric = slingshot;
      if (!root) return true;
      Interface const interface = read_interface(*root, nic.name);
      nic.gbps = interface.gbps;
      return interface.up;
    }
    default:
      return false;
  }
}

}  // namespace

void read_devices(hwloc_topology_t topology, std::optional<std::string> const& sysfs_root,
                  model::Node& node) {
  std::vector<hwloc_obj_t> found;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_pcidev(topology, object)) != nullptr) {
    if (is_device(object->attr->pcidev)) found.push_back(object);
  }
  std::stable_sort(found.begin(), found.end(), [](hwloc_obj_t a, hwloc_obj_t b) {
    return bus_order(a->attr->pcidev) < bus_order(b->attr->pcidev);
  });
  for (hwloc_obj_t const pci : found) {
    Locality place = locality_of(topology, pci, node, sysfs_root);
    model::Device device;
    device.bus_id = bus_id(pci->attr->pcidev);
    device.vendor = fmt::format("{:04x}", static_cast<unsigned>(pci->attr->pcidev.vendor_id));
    device.model = model_of(pci);
    device.numa = place.numa;
    device.package = place.package;
    device.bridges = bridges_above(pci);
    device.local_pus = std::move(place.pus);
    int const partitions = partitions_of(pci);
    for (device.partition = 0; device.partition < partitions; ++device.partition) {
      node.devices.push_back(device);
    }
  }
}

void read_nics(hwloc_topology_t topology, std::optional<std::string> const& sysfs_root,
               model::Node& node) {
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_osdev(topology, object)) != nullptr) {
    hwloc_obj_t const pci = pci_above(object);
    // Without hardware behind it an interface is virtual: a bridge, a tunnel, soft RoCE.
    if (pci == nullptr || object->name == nullptr) continue;
    model::Nic nic;
    nic.name = base::printable(object->name, 32);
    if (!fill_nic(object, pci->attr->pcidev, sysfs_root, nic)) continue;
    Locality const place = locality_of(topology, pci, node, sysfs_root);
    nic.bus_id = bus_id(pci->attr->pcidev);
    nic.numa = place.numa;
    nic.package = place.package;
    nic.bridges = bridges_above(pci);
    node.nics.push_back(std::move(nic));
  }
  std::stable_sort(node.nics.begin(), node.nics.end(),
                   [](auto const& a, auto const& b) { return a.name < b.name; });
}

}  // namespace berth::topo
