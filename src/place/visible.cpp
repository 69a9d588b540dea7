// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <place/place.hpp>

namespace berth::place {
namespace {

constexpr std::size_t longest = 64UL << 10U;
constexpr std::string_view gpu_prefix = "GPU-";
constexpr std::string_view mig_prefix = "MIG-";
constexpr std::string_view old_mig_prefix = "MIG-GPU-";
constexpr char const* vendor_nvidia = "10de";

using Devices = std::vector<model::Device const*>;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// CUDA counts NVIDIA's devices; HIP, which reads the variable too, on a machine without any all.
Devices counted(model::Node const& node) {
  Devices all;
  Devices nvidia;
  for (auto const& device : node.devices) {
    all.push_back(&device);
    if (device.vendor == vendor_nvidia) nvidia.push_back(&device);
  }
  return nvidia.empty() ? all : nvidia;
}

// An index names a GPU; of one that is cut into MIG instances a process gets the first.
Devices by_index(Devices const& devices) {
  Devices found;
  for (auto const* device : devices) {
    bool const further = !found.empty() && found.back()->bus_id == device->bus_id &&
                         starts_with(device->uuid, mig_prefix);
    if (!further) found.push_back(device);
  }
  return found;
}

model::Device const* only_one(Devices const& devices,
                              bool (*matches)(std::string_view uuid, std::string_view text),
                              std::string_view text) {
  model::Device const* found = nullptr;
  for (auto const* device : devices) {
    if (!matches(device->uuid, text)) continue;
    if (found != nullptr) return nullptr;
    found = device;
  }
  return found;
}

// "MIG-GPU-uuid/gi/ci": the GPU's part may be cut short, the instances not.
bool is_old_mig(std::string_view uuid, std::string_view text) {
  std::size_t const cut = text.find('/');
  std::size_t const uuid_cut = uuid.find('/');
  return starts_with(uuid, old_mig_prefix) && uuid_cut != std::string_view::npos &&
         uuid.substr(uuid_cut) == text.substr(cut) &&
         starts_with(uuid.substr(0, uuid_cut), text.substr(0, cut));
}

model::Device const* named(Devices const& devices, std::string_view item) {
  if (starts_with(item, old_mig_prefix) && item.find('/') != std::string_view::npos) {
    return only_one(devices, is_old_mig, item);
  }
  for (auto const prefix : {gpu_prefix, mig_prefix}) {
    if (starts_with(item, prefix) && item.size() > prefix.size()) {
      return only_one(devices, starts_with, item);
    }
  }
  int index = -1;
  auto const result = std::from_chars(item.data(), item.data() + item.size(), index);
  bool const whole = result.ec == std::errc() && result.ptr == item.data() + item.size();
  Devices const gpus = by_index(devices);
  if (!whole || index < 0 || static_cast<std::size_t>(index) >= gpus.size()) return nullptr;
  return gpus[static_cast<std::size_t>(index)];
}

void check(std::string const& text) {
  bool const control = std::any_of(text.begin(), text.end(), [](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  if (text.size() <= longest && !control) return;
  base::fail(Errc::bad_input,
             fmt::format("CUDA_VISIBLE_DEVICES is not a list of devices ({}): {}; write indices "
                         "0,1,2 or UUIDs GPU-...",
                         control ? "control characters" : "too long", base::printable(text, 40)));
}

}  // namespace

std::vector<model::DeviceKey> visible_devices(model::Node const& node,
                                              std::optional<std::string> const& text) {
  std::vector<model::DeviceKey> visible;
  if (!text) {
    for (auto const& device : node.devices) visible.push_back({device.bus_id, device.partition});
    return visible;
  }
  check(*text);
  Devices const devices = counted(node);
  for (auto const& item : base::split(*text, ',')) {
    model::Device const* const device = named(devices, base::trim(item));
    if (device == nullptr) break;
    model::DeviceKey const key{device->bus_id, device->partition};
    if (std::find(visible.begin(), visible.end(), key) != visible.end()) return {};
    visible.push_back(key);
  }
  return visible;
}

}  // namespace berth::place
