// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <base/units.hpp>
#include <topo/devices.hpp>
#include <topo/locality.hpp>
#include <topo/partitions.hpp>

namespace berth::topo {
namespace {

constexpr unsigned nvidia = 0x10de;
constexpr unsigned amd = 0x1002;
constexpr unsigned intel = 0x8086;
constexpr unsigned habana = 0x1da3;

/// The management objects below a PCI function: one per partition (CPX, TPX).
struct Partition {
  std::string model;
  std::string uuid;
};

bool has_subtype(hwloc_obj_t object, std::string_view subtype) {
  return object->type == HWLOC_OBJ_OS_DEVICE && object->subtype != nullptr &&
         subtype == object->subtype;
}

// A device without serial number says zeros; converters invent names.
std::string sane_uuid(std::string const& text, std::string_view prefix) {
  if (text.rfind(prefix, 0) != 0) return {};
  bool const zeros = text.find_first_not_of("0x-", prefix.size()) == std::string::npos;
  return zeros ? std::string() : text;
}

std::string uuid_of(hwloc_obj_t os_device) {
  std::string uuid = sane_uuid(info(os_device, "NVIDIAUUID"), "GPU-");
  if (uuid.empty()) uuid = sane_uuid(info(os_device, "AMDUUID"), "");
  if (uuid.empty()) uuid = sane_uuid(info(os_device, "LevelZeroUUID"), "");
  return uuid;
}

// "rsmi2" before "rsmi10".
bool by_number(hwloc_obj_t a, hwloc_obj_t b) {
  std::string_view const left = a->name != nullptr ? a->name : "";
  std::string_view const right = b->name != nullptr ? b->name : "";
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

std::vector<Partition> partitions_of(hwloc_obj_t pci) {
  std::vector<hwloc_obj_t> managed;
  Partition whole;
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling) {
    if (has_subtype(child, "RSMI")) managed.push_back(child);
    if (whole.model.empty()) whole.model = info(child, "GPUModel");
    if (whole.uuid.empty()) whole.uuid = uuid_of(child);
  }
  if (whole.model.empty()) whole.model = info(pci, "PCIDevice");
  if (managed.size() < 2) return {whole};
  std::stable_sort(managed.begin(), managed.end(), by_number);
  std::vector<Partition> all;
  for (hwloc_obj_t const object : managed) {
    std::string const name = info(object, "GPUModel");
    all.push_back({name.empty() ? whole.model : name, uuid_of(object)});
  }
  return all;
}

// A driver that runs knows more than hwloc without its plugins.
void complete(std::vector<Partition>& partitions, DriverFacts const& facts) {
  std::string const model = facts.model.empty() ? partitions.front().model : facts.model;
  if (facts.uuids.size() > partitions.size()) partitions.resize(facts.uuids.size());
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (partitions[i].model.empty() || !facts.model.empty()) partitions[i].model = model;
    if (facts.uuids.size() != partitions.size()) continue;
    if (partitions.size() > 1 || partitions[i].uuid.empty()) partitions[i].uuid = facts.uuids[i];
  }
}

std::string hexadecimal(unsigned vendor) {
  return fmt::format("{:04x}", vendor);
}

void place_device(Locality place, model::Device& device) {
  device.numa = place.numa;
  device.package = place.package;
  device.bridges = std::move(place.bridges);
  device.local_pus = std::move(place.pus);
}

void add_device(model::Device device, std::vector<Partition> partitions, model::Node& node) {
  // Two functions of one number exist in damaged files only; they count on as partitions.
  if (!node.devices.empty() && node.devices.back().bus_id == device.bus_id) {
    device.partition = node.devices.back().partition + 1;
  }
  for (Partition& partition : partitions) {
    device.model = std::move(partition.model);
    device.uuid = std::move(partition.uuid);
    node.devices.push_back(device);
    ++device.partition;
  }
}

}  // namespace

bool is_service_display(unsigned vendor, unsigned device) {
  // Rage XL, RV100 and ES1000: what servers had before the chips of ASPEED and Matrox.
  return vendor == amd && (device == 0x4752 || device == 0x5159 || device == 0x515e ||
                           device == 0x5960 || device == 0x5969);
}

bool is_device(unsigned vendor, unsigned pci_class, unsigned bus) {
  // The display part of an Intel processor, or its small NPU, is nothing to put a rank on.
  if (vendor == intel && bus == 0) return false;
  bool const gpu_vendor = vendor == nvidia || vendor == amd || vendor == intel;
  switch (pci_class) {
    case 0x0300:  // VGA: also the service processors of servers, which have other vendors
    case 0x0302:  // 3D controller
    case 0x0380:  // other display controller
      return gpu_vendor;
    case 0x1200:  // processing accelerator
      return gpu_vendor || vendor == habana;
    default:
      return false;
  }
}

void read_devices(hwloc_topology_t topology, std::optional<std::string> const& root,
                  model::Node& node) {
  std::multimap<BusId, hwloc_obj_t> found;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_pcidev(topology, object)) != nullptr) {
    auto const& pci = object->attr->pcidev;
    if (is_device(pci.vendor_id, pci.class_id, pci.bus) &&
        !is_service_display(pci.vendor_id, pci.device_id)) {
      found.emplace(bus_id_of(pci), object);
    }
  }
  std::map<BusId, DriverFacts> facts;
  if (root) facts = read_driver_facts(*root);
  // Containers may hide the bus from hwloc but not the driver from us.
  for (auto const& [id, one] : facts) {
    if (found.count(id) == 0) found.emplace(id, nullptr);
  }
  for (auto const& [id, pci] : found) {
    auto const told = facts.find(id);
    std::vector<Partition> partitions(1);
    model::Device device;
    if (pci != nullptr) {
      partitions = partitions_of(pci);
      place_device(locality_of(topology, pci, node, root), device);
      device.vendor = hexadecimal(pci->attr->pcidev.vendor_id);
    } else {
      place_device(locality_of_folder(*root + "/sys/bus/pci/devices/" + format_bus_id(id), node),
                   device);
      device.vendor = hexadecimal(told->second.vendor);
    }
    device.bus_id = format_bus_id(id);
    if (told != facts.end()) complete(partitions, told->second);
    add_device(std::move(device), std::move(partitions), node);
  }
}

}  // namespace berth::topo
