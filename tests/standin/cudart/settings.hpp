// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace berth::standin {

/// What STANDIN_CUDA_FAULTS asks of this rank.
struct Faults {
  std::optional<cudaError_t> count_error;
  bool count_zero = false;
  std::optional<cudaError_t> set_device_error;
  cudaError_t sticky_code = cudaSuccess;
  unsigned long sticky_at = 0;  ///< the how manieth use of a stream or event fails; 0: none
  unsigned long malloc_at = 0;  ///< the how manieth allocation of device memory fails; 0: none
};

struct DeviceSettings {
  std::string bus_id;  ///< 0000:07:00.0
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  cudaUUID_t uuid = {};
};

/// All that the environment says; read once. Text that cannot be understood ends the process.
struct Settings {
  std::vector<DeviceSettings> visible;  ///< in the order of CUDA_VISIBLE_DEVICES
  std::size_t memory = 0;               ///< bytes of each device
  int driver_version = 0;
  Faults faults;

  static Settings const& get();
};

/// Counts one query, synchronisation or launch; from the one of the fault on, the sticky error
/// holds. Throws it.
void count_use();
/// Counts one allocation of device memory; throws if it is the one that has to fail.
void count_malloc();

/// Writes one line to stderr and aborts.
[[noreturn]] void die(std::string const& reason);

}  // namespace berth::standin
