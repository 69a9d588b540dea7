// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <base/text.hpp>
#include <base/units.hpp>
#include <sys/host.hpp>
#include <sys/sysfs.hpp>
#include <topo/partitions.hpp>

namespace berth::topo {
namespace {

// The value of a line "key: value" or "key value"; empty: there is none.
std::string value_of(std::string const& text, std::string_view key) {
  for (std::string const& line : base::split(text, '\n')) {
    std::string_view const whole = base::trim(line);
    if (whole.substr(0, key.size()) != key || whole.size() == key.size()) continue;
    char const next = whole[key.size()];
    if (next != ':' && next != ' ' && next != '\t') continue;
    return base::printable(base::trim(whole.substr(key.size() + 1)), 80);
  }
  return {};
}

std::size_t entries(std::string const& folder, std::string_view prefix) {
  std::vector<std::string> const names = sys::list_folder(folder);
  return static_cast<std::size_t>(std::count_if(
      names.begin(), names.end(), [&](auto const& name) { return name.rfind(prefix, 0) == 0; }));
}

// Compute instances of MIG: capabilities/gpu0/mig/gi3/ci0.
std::size_t mig_instances(std::string const& driver, std::string const& minor) {
  if (minor.empty()) return 0;
  std::string const mig = fmt::format("{}/capabilities/gpu{}/mig", driver, minor);
  std::size_t count = 0;
  for (std::string const& name : sys::list_folder(mig)) {
    if (name.rfind("gi", 0) == 0) count += entries(fmt::format("{}/{}", mig, name), "ci");
  }
  return count;
}

void read_nvidia(std::string const& root, std::map<BusId, DriverFacts>& facts) {
  std::string const driver = root + "/proc/driver/nvidia";
  for (std::string const& name : sys::list_folder(driver + "/gpus")) {
    auto const id = parse_bus_id(name);
    if (!id) continue;
    std::string const text =
        sys::read_small_file(fmt::format("{}/gpus/{}/information", driver, name), 4096);
    DriverFacts one;
    one.vendor = 0x10de;
    one.model = value_of(text, "Model");
    std::string uuid = value_of(text, "GPU UUID");
    // Question marks stand where the driver has not looked yet.
    if (uuid.rfind("GPU-", 0) != 0 || uuid.find('?') != std::string::npos) uuid.clear();
    std::size_t const instances = mig_instances(driver, value_of(text, "Device Minor"));
    // The names of instances are not told here, and that of the whole device is none of theirs.
    one.uuids = instances > 0 ? std::vector<std::string>(instances) : std::vector{uuid};
    facts[*id] = std::move(one);
  }
}

// Each partition (CPX, TPX) is a node of its own; its number is or-ed into the function's.
void read_amd(std::string const& root, std::map<BusId, DriverFacts>& facts) {
  std::string const nodes = root + "/sys/class/kfd/kfd/topology/nodes";
  std::map<BusId, DriverFacts> found;
  std::vector<std::string> names = sys::list_folder(nodes);
  std::stable_sort(names.begin(), names.end(), [](auto const& a, auto const& b) {
    return a.size() < b.size();  // numbers
  });
  for (std::string const& name : names) {
    std::string const text =
        sys::read_small_file(fmt::format("{}/{}/properties", nodes, name), 8192);
    auto const number = [&](char const* key, long long most) {
      return base::parse_integer(value_of(text, key), 0, most);
    };
    auto const units = number("simd_count", 1 << 30);
    auto const place = number("location_id", 0xffff);
    if (!units || *units == 0 || !place) continue;
    auto const domain = number("domain", 0xffffffff).value_or(0);
    auto const where = static_cast<unsigned>(*place);
    BusId const id{static_cast<unsigned>(domain), where >> 8U, where >> 3U & 0x1fU, 0};
    std::string const unique = value_of(text, "unique_id");
    auto const value = base::parse_integer(unique, 1, 0x7fffffffffffffff);
    found[id].vendor = 0x1002;
    found[id].uuids.push_back(value ? fmt::format("GPU-{:016x}", *value) : std::string());
  }
  facts.merge(found);
}

}  // namespace

std::map<BusId, DriverFacts> read_driver_facts(std::string const& root) {
  std::map<BusId, DriverFacts> facts;
  read_nvidia(root, facts);
  read_amd(root, facts);
  return facts;
}

}  // namespace berth::topo
