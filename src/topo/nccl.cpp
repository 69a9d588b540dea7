// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <base/error.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <topo/devices.hpp>
#include <topo/nccl.hpp>

namespace berth::topo {
namespace {

constexpr int deepest = 64;
constexpr std::size_t most_items = 4096;

// "0x10de", "10de"; absent: not told, or no such number.
std::optional<unsigned> hexadecimal(char const* text) {
  std::string_view digits = text;
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  unsigned value = 0;
  auto const [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return value;
}

std::vector<std::string> nearest_first(std::vector<std::string> const& bridges) {
  return {bridges.rbegin(), bridges.rend()};
}

/// Where the walk is.
struct Place {
  int cpu = 0;
  std::vector<std::string> bridges;  ///< PCI functions above, the CPU's first
};

/// Walks the elements below a CPU.
class Walk {
 public:
  explicit Walk(NcclSystem& system) : system_(system) {}

  void below_cpu(pugi::xml_node const& cpu, Place& place) {
    for (pugi::xml_node const& child : cpu.children("pci")) function(child, place, 0);
    for (pugi::xml_node const& child : cpu.children("nic")) networks(child, place, "", false);
  }

 private:
  static void check_depth(int depth) {
    if (depth <= deepest) return;
    base::fail(Errc::bad_input, fmt::format("its elements are nested deeper than {}", deepest));
  }

  void function(pugi::xml_node const& pci, Place& place, int depth) {
    char const* const text = pci.attribute("busid").value();
    auto const id = parse_bus_id(text);
    if (!id) {
      base::fail(Errc::bad_input,
                 fmt::format("\"{}\" is no PCI bus id", base::printable(text, 40)));
    }
    unsigned const pci_class = hexadecimal(pci.attribute("class").value()).value_or(0) >> 8U;
    auto const vendor = hexadecimal(pci.attribute("vendor").value());
    bool const gpu = pci.child("gpu") || is_gpu(vendor, pci_class, id->bus);
    if (gpu) add_gpu(pci, *id, vendor, place);
    if (pci_class >> 8U == 0x02 || pci.child("nic")) add_nic(pci, *id, vendor, pci_class, place);
    place.bridges.push_back(format_bus_id(*id));
    // Networks below it are done.
    check_depth(depth + 1);
    for (pugi::xml_node const& child : pci.children("pci")) function(child, place, depth + 1);
    place.bridges.pop_back();
  }

  // A GPU that the file's writer did not describe any further; NCCL's own have no vendor.
  static bool is_gpu(std::optional<unsigned> vendor, unsigned pci_class, unsigned bus) {
    constexpr unsigned nvidia = 0x10de;
    return is_device(vendor.value_or(nvidia), pci_class, bus);
  }

  void add_gpu(pugi::xml_node const& pci, BusId const& id, std::optional<unsigned> vendor,
               Place const& place) {
    check_room(system_.gpus.size());
    NcclGpu gpu;
    gpu.id = id;
    gpu.cpu = place.cpu;
    bool const amd = !pci.child("gpu").attribute("gcn").empty();
    gpu.vendor = vendor ? fmt::format("{:04x}", *vendor & 0xffffU) : (amd ? "1002" : "10de");
    gpu.bridges = nearest_first(place.bridges);
    auto const described = std::distance(pci.children("gpu").begin(), pci.children("gpu").end());
    gpu.partitions = static_cast<int>(std::clamp<std::ptrdiff_t>(described, 1, 64));
    system_.gpus.push_back(std::move(gpu));
  }

  void add_nic(pugi::xml_node const& pci, BusId const& id, std::optional<unsigned> vendor,
               unsigned pci_class, Place const& place) {
    constexpr unsigned amazon = 0x1d0f;
    unsigned const device = hexadecimal(pci.attribute("device").value()).value_or(0);
    bool const efa = vendor == amazon && device >> 4U == 0xefa;
    bool const fabric = pci_class == 0x0207 || pci_class == 0x0208 || efa;
    std::size_t const before = system_.nics.size();
    for (pugi::xml_node const& nic : pci.children("nic")) {
      networks(nic, place, format_bus_id(id), fabric);
    }
    if (system_.nics.size() > before) return;
    check_room(system_.nics.size());
    system_.nics.push_back(
        {"", format_bus_id(id), place.cpu, 0, fabric, nearest_first(place.bridges)});
  }

  void networks(pugi::xml_node const& nic, Place const& place, std::string const& bus_id,
                bool fabric) {
    for (pugi::xml_node const& net : nic.children("net")) {
      NcclNic one;
      one.name = base::printable(net.attribute("name").value(), 32);
      one.bus_id = bus_id;
      one.cpu = place.cpu;
      // In Mbit/s.
      auto const speed = base::parse_integer(net.attribute("speed").value(), 1, 100'000'000);
      if (speed) one.gbps = static_cast<double>(*speed) / 1000.0;
      // Sockets have no identity on a fabric.
      unsigned long long const guid = std::strtoull(net.attribute("guid").value(), nullptr, 0);
      one.fabric = fabric || guid != 0;
      one.bridges = nearest_first(place.bridges);
      add_network(std::move(one));
    }
  }

  // The ports of one card are one card.
  void add_network(NcclNic one) {
    for (NcclNic& other : system_.nics) {
      if (other.name != one.name || other.bus_id != one.bus_id) continue;
      other.gbps = std::max(other.gbps, one.gbps);
      return;
    }
    check_room(system_.nics.size());
    system_.nics.push_back(std::move(one));
  }

  static void check_room(std::size_t size) {
    if (size >= most_items) base::fail(Errc::bad_input, "it describes too large a machine");
  }

  NcclSystem& system_;
};

NcclCpu read_cpu(pugi::xml_node const& element) {
  NcclCpu cpu;
  std::string_view const numa = element.attribute("numaid").value();
  if (numa != "-1") {
    auto const value = base::parse_integer(numa, 0, 65535);
    if (!value) {
      base::fail(Errc::bad_input,
                 fmt::format("numaid \"{}\" is no NUMA node", base::printable(numa, 20)));
    }
    cpu.numa = static_cast<int>(*value);
  }
  cpu.pus = parse_affinity(element.attribute("affinity").value());
  return cpu;
}

[[noreturn]] void fail_affinity(std::string_view text) {
  base::fail(Errc::bad_input, fmt::format("affinity \"{}\" is no mask like 0000ffff,ffffffff",
                                          base::printable(text, 40)));
}

}  // namespace

model::PuSet parse_affinity(std::string_view text) {
  constexpr std::size_t most_words = 2048;
  constexpr int bits = 32;
  model::PuSet pus;
  std::string_view const trimmed = base::trim(text);
  if (trimmed.empty()) return pus;
  // Long enough for all words with prefixes, short enough to look at.
  if (trimmed.size() > most_words * 11) fail_affinity(text);
  std::vector<std::string> const words = base::split(trimmed, ',');
  if (words.size() > most_words) fail_affinity(text);
  int base_pu = 0;
  for (auto word = words.rbegin(); word != words.rend(); ++word, base_pu += bits) {
    // The kernel leaves out words of zeros: "ff,,ff".
    if (word->empty()) continue;
    auto const value = hexadecimal(word->c_str());
    if (!value) fail_affinity(text);
    for (int bit = 0; bit < bits; ++bit) {
      if ((*value >> static_cast<unsigned>(bit) & 1U) != 0) pus.push_back(base_pu + bit);
    }
  }
  return pus;
}

NcclSystem parse_nccl(std::string_view text) {
  pugi::xml_document document;
  pugi::xml_parse_result const parsed = document.load_buffer(
      text.data(), text.size(), pugi::parse_minimal | pugi::parse_escapes, pugi::encoding_utf8);
  if (!parsed) {
    base::fail(Errc::bad_input, fmt::format("it is no well-formed XML: {} at byte {}",
                                            parsed.description(), parsed.offset));
  }
  NcclSystem system;
  for (pugi::xml_node const& element : document.child("system").children("cpu")) {
    if (system.cpus.size() >= most_items) {
      base::fail(Errc::bad_input, "it describes too large a machine");
    }
    system.cpus.push_back(read_cpu(element));
    Place place;
    place.cpu = static_cast<int>(system.cpus.size()) - 1;
    Walk(system).below_cpu(element, place);
  }
  if (system.cpus.empty()) base::fail(Errc::bad_input, "it has no cpu element");
  return system;
}

}  // namespace berth::topo
