// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "faults.hpp"

namespace berth::standin {
namespace {

constexpr unsigned long most_devices = 31;  // bus numbers of the default list end at ff

unsigned long number_from(char const* variable, unsigned long least, unsigned long most,
                          unsigned long otherwise) {
  std::string const text = environment(variable);
  if (text.empty()) return otherwise;
  std::optional<unsigned long> const value = whole_number(text);
  if (!value || *value < least || *value > most) {
    die(std::string(variable) + "=" + text + " is not a number from " + std::to_string(least) +
        " to " + std::to_string(most));
  }
  return *value;
}

DeviceSettings device_at(std::string const& bus_id) {
  DeviceSettings device;
  unsigned function = 0;
  char rest = 0;
  if (std::sscanf(bus_id.c_str(), "%4x:%2x:%2x.%1x%c", &device.domain, &device.bus, &device.slot,
                  &function, &rest) != 4) {
    die("STANDIN_CUDA_BUS_IDS: " + bus_id + " does not look like 0000:07:00.0");
  }
  device.bus_id = bus_id;
  return device;
}

// The same device of the same host has the same UUID in every process.
cudaUUID_t made_uuid(std::string const& bus_id) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::string const seed = std::string(host) + "/" + bus_id;
  cudaUUID_t uuid = {};
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (std::size_t byte = 0; byte < sizeof uuid.bytes; ++byte) {
    for (char const c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    uuid.bytes[byte] = static_cast<char>(hash >> 32U);
  }
  return uuid;
}

// Hexadecimal digits alone, in lower case, of at most 32: a UUID or the beginning of one.
std::string uuid_digits(std::string_view text) {
  if (text.substr(0, 4) == "GPU-") text.remove_prefix(4);
  std::string digits;
  for (char const c : text) {
    if (c == '-') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return "";
    digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return digits.size() <= 32 ? digits : "";
}

std::string uuid_digits(cudaUUID_t const& uuid) {
  std::string digits;
  for (char const byte : uuid.bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    digits += two;
  }
  return digits;
}

cudaUUID_t read_uuid(std::string const& text) {
  std::string const digits = uuid_digits(text);
  if (digits.size() != 32) die("STANDIN_CUDA_UUIDS: " + text + " is not a UUID");
  cudaUUID_t uuid = {};
  for (std::size_t byte = 0; byte < sizeof uuid.bytes; ++byte) {
    uuid.bytes[byte] =
        static_cast<char>(std::strtoul(digits.substr(2 * byte, 2).c_str(), nullptr, 16));
  }
  return uuid;
}

std::vector<DeviceSettings> all_devices() {
  unsigned long const count = number_from("STANDIN_CUDA_DEVICES", 0, most_devices, 1);
  std::vector<std::string> bus_ids = pieces(environment("STANDIN_CUDA_BUS_IDS"), ',');
  std::vector<std::string> const uuids = pieces(environment("STANDIN_CUDA_UUIDS"), ',');
  for (std::size_t i = bus_ids.size(); i < count; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "0000:%02zx:00.0", 7 + 8 * i);
    bus_ids.emplace_back(text);
  }
  std::vector<DeviceSettings> devices;
  for (std::size_t i = 0; i < count; ++i) {
    devices.push_back(device_at(bus_ids[i]));
    devices.back().uuid = i < uuids.size() ? read_uuid(uuids[i]) : made_uuid(bus_ids[i]);
  }
  return devices;
}

// The device that one word of CUDA_VISIBLE_DEVICES means; nothing if it means none or several.
std::optional<std::size_t> device_meant(std::string const& word,
                                        std::vector<DeviceSettings> const& all) {
  if (std::optional<unsigned long> const index = whole_number(word)) {
    if (*index < all.size()) return *index;
    return std::nullopt;
  }
  std::string const digits = word.rfind("GPU-", 0) == 0 ? uuid_digits(word) : "";
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < all.size() && !digits.empty(); ++i) {
    if (uuid_digits(all[i].uuid).rfind(digits, 0) != 0) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// As CUDA does it: the first word that means no device ends the list, and a device named twice
// leaves none.
std::vector<DeviceSettings> visible_devices(std::vector<DeviceSettings> const& all) {
  char const* const value = std::getenv("CUDA_VISIBLE_DEVICES");
  if (value == nullptr) return all;
  std::vector<std::size_t> chosen;
  for (std::string const& word : pieces(value, ',')) {
    std::optional<std::size_t> const device = device_meant(word, all);
    if (!device) break;
    if (std::find(chosen.begin(), chosen.end(), *device) != chosen.end()) return {};
    chosen.push_back(*device);
  }
  std::vector<DeviceSettings> devices;
  for (std::size_t const device : chosen) devices.push_back(all[device]);
  return devices;
}

}  // namespace

Settings const& Settings::get() {
  static Settings const* const settings = [] {
    auto* const read = new Settings;
    read->visible = visible_devices(all_devices());
    unsigned long const most = 1UL << 40U;
    read->memory = number_from("STANDIN_CUDA_MEMORY", 1UL << 20U, most, 16UL << 30U);
    read->driver_version =
        static_cast<int>(number_from("STANDIN_CUDA_DRIVER_VERSION", 0, 1000000, CUDART_VERSION));
    read->faults = faults_of_this_rank();
    return read;
  }();
  return *settings;
}

}  // namespace berth::standin
