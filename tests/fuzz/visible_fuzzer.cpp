// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fuzz/fuzz.hpp>

#include <berth/error.hpp>
#include <place/place.hpp>

namespace {

/// Four devices with texts to name them by, one of them in two partitions.
berth::model::Node node() {
  berth::model::Node made;
  for (int i = 0; i < 5; ++i) {
    berth::model::Device device;
    device.bus_id = "0000:" + std::to_string(10 + std::min(i, 3)) + ":00.0";
    device.partition = i == 4 ? 1 : 0;
    device.uuid = (i < 3 ? "GPU-0000000" : "MIG-0000000") + std::to_string(i) + "-aaaa";
    made.devices.push_back(device);
  }
  return made;
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace berth;
  static model::Node const machine = node();
  try {
    auto const keys = place::visible_devices(machine, std::string(test::text_of(data, size)));
    test::require(keys.size() <= machine.devices.size(), "no device twice");
    for (auto const& key : keys) {
      test::require(std::count(keys.begin(), keys.end(), key) == 1, "each device once");
      bool const exists = std::any_of(
          machine.devices.begin(), machine.devices.end(), [&](model::Device const& device) {
            return device.bus_id == key.bus_id && device.partition == key.partition;
          });
      test::require(exists, "only devices that exist");
    }
  } catch (Error const& error) {
    test::require(error.code() == Errc::bad_input, "a text is refused by name");
  }
  return 0;
}
