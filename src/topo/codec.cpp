// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstring>

#include <base/error.hpp>
#include <base/text.hpp>
#include <topo/codec.hpp>

namespace berth::topo {
namespace {

constexpr std::uint32_t magic = 0x42546e32;
constexpr std::uint32_t most_items = 65536;
constexpr std::uint32_t most_text = 256;

class Writer {
 public:
  template <class Value>
  void put(Value value) {
    bytes_.append(reinterpret_cast<char const*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    std::string_view const kept = value.substr(0, most_text);
    put(static_cast<std::uint32_t>(kept.size()));
    bytes_.append(kept);
  }
  void texts(std::vector<std::string> const& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (auto const& value : values) text(value);
  }
  void pus(model::PuSet const& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (int const value : values) put(static_cast<std::int32_t>(value));
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class Value>
  Value get() {
    Value value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  int integer(int low, int high) {
    auto const value = get<std::int32_t>();
    check(value >= low && value <= high);
    return value;
  }
  double number() {
    auto const value = get<double>();
    check(std::isfinite(value) && value >= 0);
    return value;
  }
  std::size_t count() {
    auto const value = get<std::uint32_t>();
    check(value <= most_items);
    return value;
  }
  std::string text() {
    auto const size = get<std::uint32_t>();
    check(size <= most_text);
    return base::printable(take(size), most_text);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (std::size_t left = count(); left > 0; --left) values.push_back(text());
    return values;
  }
  model::PuSet pus() {
    model::PuSet values;
    for (std::size_t left = count(); left > 0; --left) {
      values.push_back(integer(values.empty() ? 0 : values.back() + 1, 65535));
    }
    return values;
  }
  void check(bool good) const {
    if (!good) base::fail(Errc::bad_input, "what came back from reading it makes no sense");
  }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    check(size <= bytes_.size());
    std::string_view const taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
};

void write_numa(Writer& to, model::NumaNode const& numa) {
  to.put(static_cast<std::int32_t>(numa.os_index));
  to.put(static_cast<std::int32_t>(numa.package));
  to.put(static_cast<std::uint64_t>(numa.memory_bytes));
  to.pus(numa.pus);
  to.text(numa.subtype);
}

model::NumaNode read_numa(Reader& from, int packages) {
  model::NumaNode numa;
  numa.os_index = from.integer(0, static_cast<int>(most_items));
  numa.package = from.integer(-1, packages - 1);
  numa.memory_bytes = from.get<std::uint64_t>();
  numa.pus = from.pus();
  numa.subtype = from.text();
  return numa;
}

void write_core(Writer& to, model::Core const& core) {
  to.put(static_cast<std::int32_t>(core.package));
  to.put(static_cast<std::int32_t>(core.numa));
  to.put(static_cast<std::int32_t>(core.l3));
  to.put(static_cast<std::int32_t>(core.kind));
  to.pus(core.pus);
}

model::Core read_core(Reader& from, int packages, int numa_nodes) {
  model::Core core;
  core.package = from.integer(-1, packages - 1);
  core.numa = from.integer(-1, numa_nodes - 1);
  core.l3 = from.integer(-1, static_cast<int>(most_items));
  core.kind = from.integer(0, static_cast<int>(most_items));
  core.pus = from.pus();
  return core;
}

void write_device(Writer& to, model::Device const& device) {
  to.text(device.bus_id);
  to.put(static_cast<std::int32_t>(device.partition));
  to.text(device.vendor);
  to.text(device.model);
  to.text(device.uuid);
  to.put(static_cast<std::int32_t>(device.numa));
  to.put(static_cast<std::int32_t>(device.package));
  to.texts(device.bridges);
  to.pus(device.local_pus);
}

model::Device read_device(Reader& from, int packages, int numa_nodes) {
  model::Device device;
  device.bus_id = from.text();
  device.partition = from.integer(0, static_cast<int>(most_items));
  device.vendor = from.text();
  device.model = from.text();
  device.uuid = from.text();
  device.numa = from.integer(-1, numa_nodes - 1);
  device.package = from.integer(-1, packages - 1);
  device.bridges = from.texts();
  device.local_pus = from.pus();
  return device;
}

void write_nic(Writer& to, model::Nic const& nic) {
  to.text(nic.name);
  to.text(nic.bus_id);
  to.put(static_cast<std::int32_t>(nic.numa));
  to.put(static_cast<std::int32_t>(nic.package));
  to.put(nic.gbps);
  to.put(static_cast<std::uint8_t>(nic.fabric ? 1 : 0));
  to.texts(nic.bridges);
}

model::Nic read_nic(Reader& from, int packages, int numa_nodes) {
  model::Nic nic;
  nic.name = from.text();
  nic.bus_id = from.text();
  nic.numa = from.integer(-1, numa_nodes - 1);
  nic.package = from.integer(-1, packages - 1);
  nic.gbps = from.number();
  nic.fabric = from.get<std::uint8_t>() != 0;
  nic.bridges = from.texts();
  return nic;
}

}  // namespace

std::string encode_node(model::Node const& node) {
  Writer to;
  to.put(magic);
  to.text(base::printable(node.host, 64));
  to.put(static_cast<std::int32_t>(node.packages));
  to.put(static_cast<std::uint32_t>(node.numa_nodes.size()));
  for (auto const& numa : node.numa_nodes) write_numa(to, numa);
  to.put(static_cast<std::uint32_t>(node.numa_distance.size()));
  for (auto const& row : node.numa_distance) {
    for (double const value : row) to.put(value);
  }
  to.put(static_cast<std::uint32_t>(node.cores.size()));
  for (auto const& core : node.cores) write_core(to, core);
  to.pus(node.allowed);
  to.put(static_cast<std::uint32_t>(node.devices.size()));
  for (auto const& device : node.devices) write_device(to, device);
  to.put(static_cast<std::uint32_t>(node.nics.size()));
  for (auto const& nic : node.nics) write_nic(to, nic);
  to.put(static_cast<std::uint32_t>(node.unused_nics.size()));
  for (auto const& nic : node.unused_nics) {
    to.text(nic.name);
    to.text(nic.reason);
  }
  return to.take();
}

model::Node decode_node(std::string_view bytes) {
  Reader from(bytes);
  model::Node node;
  from.check(from.get<std::uint32_t>() == magic);
  node.host = from.text();
  node.packages = from.integer(1, static_cast<int>(most_items));
  for (std::size_t left = from.count(); left > 0; --left) {
    node.numa_nodes.push_back(read_numa(from, node.packages));
  }
  auto const numa_nodes = static_cast<int>(node.numa_nodes.size());
  std::size_t const rows = from.count();
  from.check(rows == 0 || rows == node.numa_nodes.size());
  for (std::size_t i = 0; i < rows; ++i) {
    auto& row = node.numa_distance.emplace_back();
    for (std::size_t j = 0; j < rows; ++j) row.push_back(from.number());
  }
  for (std::size_t left = from.count(); left > 0; --left) {
    node.cores.push_back(read_core(from, node.packages, numa_nodes));
    from.check(!node.cores.back().pus.empty());
  }
  node.allowed = from.pus();
  for (std::size_t left = from.count(); left > 0; --left) {
    node.devices.push_back(read_device(from, node.packages, numa_nodes));
  }
  for (std::size_t left = from.count(); left > 0; --left) {
    node.nics.push_back(read_nic(from, node.packages, numa_nodes));
  }
  for (std::size_t left = from.count(); left > 0; --left) {
    auto& nic = node.unused_nics.emplace_back();
    nic.name = from.text();
    nic.reason = from.text();
  }
  from.check(from.at_end());
  return node;
}

}  // namespace berth::topo
