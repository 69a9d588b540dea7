// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "devices.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include <cuda_runtime_api.h>

#include "call.hpp"
#include "memory.hpp"
#include "settings.hpp"
#include "stream.hpp"

namespace berth::standin {
namespace {

thread_local int chosen_device = 0;

constexpr int lowest_priority = 0;
constexpr int highest_priority = -5;

struct Peers {
  std::mutex mutex;
  std::set<std::pair<int, int>> enabled;
  unsigned device_flags[32] = {};
};
Peers& peers() {
  static auto* const all = new Peers;
  return *all;
}

void choose(int device) {
  require_device(device);
  std::optional<cudaError_t> const fault = Settings::get().faults.set_device_error;
  if (fault) fail(*fault);
  chosen_device = device;
}

DeviceSettings const& settings_of(int device) {
  require_device(device);
  return Settings::get().visible[static_cast<std::size_t>(device)];
}

}  // namespace

int device_count() {
  return static_cast<int>(Settings::get().visible.size());
}

int current_device() {
  return chosen_device;
}

void require_device(int device) {
  require(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
}

}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return note(cudaErrorInvalidValue);
  *count = 0;
  return call(Needs::nothing, [&] {
    Settings const& settings = Settings::get();
    if (settings.faults.count_error) fail(*settings.faults.count_error);
    if (settings.faults.count_zero) return;
    require(device_count() > 0, cudaErrorNoDevice);
    *count = device_count();
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&] { choose(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  return call([&] {
    require_device(device);
    require((flags & ~unsigned{cudaInitDeviceFlagsAreValid}) == 0);
    if (flags == 0) return;
    std::lock_guard const lock(peers().mutex);
    peers().device_flags[device] = device_flags;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&] {
    require(device != nullptr);
    *device = current_device();
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return call([&] {
    require((flags & ~unsigned{cudaDeviceMask}) == 0);
    std::lock_guard const lock(peers().mutex);
    peers().device_flags[current_device()] = flags;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return call([&] {
    require(flags != nullptr);
    std::lock_guard const lock(peers().mutex);
    *flags = peers().device_flags[current_device()] | unsigned{cudaDeviceMapHost};
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return note(cudaErrorInvalidValue);
  Settings const& settings = Settings::get();
  bool const without_driver = settings.faults.count_error == cudaErrorInsufficientDriver;
  *version = without_driver ? 0 : settings.driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return note(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&] {
    require(text != nullptr && length > 0);
    std::snprintf(text, static_cast<std::size_t>(length), "%s", settings_of(device).bus_id.c_str());
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, char const* text) {
  return call([&] {
    require(device != nullptr && text != nullptr);
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    // Domain and function may be missing.
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
      domain = 0;
      require(std::sscanf(text, "%x:%x", &bus, &slot) == 2);
    }
    for (int i = 0; i < device_count(); ++i) {
      DeviceSettings const& one = settings_of(i);
      if (one.domain != domain || one.bus != bus || one.slot != slot) continue;
      *device = i;
      return;
    }
    fail(cudaErrorInvalidDevice);
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return call([&] {
    if (lowest != nullptr) *lowest = lowest_priority;
    if (highest != nullptr) *highest = highest_priority;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] {
    count_use();
    require_no_capture_on(current_device());
    wait_for_device(current_device());
  });
}

cudaError_t cudaDeviceReset() {
  return call([] {
    require_no_capture_on(current_device());
    wait_for_device(current_device());
    retire_streams(current_device());
    free_blocks_of(current_device());
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&] {
    require(can != nullptr);
    require_device(device);
    require_device(peer);
    *can = device != peer ? 1 : 0;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&] {
    require(flags == 0);
    require_device(peer);
    require(peer != current_device(), cudaErrorInvalidDevice);
    std::lock_guard const lock(peers().mutex);
    bool const is_new = peers().enabled.emplace(current_device(), peer).second;
    require(is_new, cudaErrorPeerAccessAlreadyEnabled);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&] {
    require_device(peer);
    std::lock_guard const lock(peers().mutex);
    require(peers().enabled.erase({current_device(), peer}) == 1, cudaErrorPeerAccessNotEnabled);
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return call([&] {
    require(value != nullptr);
    require_device(from);
    require_device(to);
    require(from != to, cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
  });
}
