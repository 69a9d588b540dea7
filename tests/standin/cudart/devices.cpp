// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cstdio>
#include <cstring>

#include "state.hpp"

using namespace berth::standin::cuda;

namespace {

constexpr int version = 13000;
constexpr std::size_t memory_bytes = std::size_t{80} << 30U;

bool is_device(int device) {
  return device >= 0 && static_cast<std::size_t>(device) < state().devices.size();
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* result) {
  *result = version;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* result) {
  *result = state().faults.count_error == cudaErrorInsufficientDriver ? 0 : version;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  State& all = state();
  *count = 0;
  if (all.faults.count_error != 0) return note(static_cast<cudaError_t>(all.faults.count_error));
  if (all.devices.empty()) return note(cudaErrorNoDevice);
  *count = static_cast<int>(all.devices.size());
  return broken();
}

cudaError_t cudaGetDevice(int* device) {
  if (state().devices.empty()) return note(cudaErrorNoDevice);
  *device = current_device();
  return broken();
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return note(cudaErrorInvalidDevice);
  current_device() = device;
  return broken();
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!is_device(device) || length < 13) return note(cudaErrorInvalidValue);
  // CUDA writes bus ids in upper case.
  std::string bus_id = state().devices[static_cast<std::size_t>(device)].bus_id;
  for (char& c : bus_id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::snprintf(text, static_cast<std::size_t>(length), "%s", bus_id.c_str());
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, char const* text) {
  for (std::size_t i = 0; i < state().devices.size(); ++i) {
    if (strcasecmp(text, state().devices[i].bus_id.c_str()) != 0) continue;
    *device = static_cast<int>(i);
    return cudaSuccess;
  }
  return note(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return note(cudaErrorInvalidDevice);
  Device const& one = state().devices[static_cast<std::size_t>(device)];
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "Stand-in for a GPU");
  std::memcpy(properties->uuid.bytes, one.uuid, sizeof one.uuid);
  properties->totalGlobalMem = memory_bytes;
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->pciBusID = static_cast<int>(std::stoul(one.bus_id.substr(5, 2), nullptr, 16));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return note(cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  static_cast<void>(cudaGetDeviceProperties(&properties, device));
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrPciBusId:
      *value = properties.pciBusID;
      break;
    case cudaDevAttrUnifiedAddressing:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return note(cudaErrorInvalidDevice);
  *can = device == peer ? 0 : 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return broken();
}

cudaError_t cudaDeviceReset() {
  return cudaDeviceSynchronize();
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = memory_bytes / 2;
  *total = memory_bytes;
  return broken();
}

}  // extern "C"
