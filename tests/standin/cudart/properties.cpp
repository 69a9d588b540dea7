// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <cuda_runtime_api.h>

#include "call.hpp"
#include "devices.hpp"
#include "settings.hpp"

// What a device says of itself: the numbers of an H100, except for its place and its memory.
namespace berth::standin {
namespace {

struct Attribute {
  cudaDeviceAttr name;
  int value;
};

// Attributes that are in neither list are 0.
constexpr Attribute attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
    {cudaDevAttrTotalConstantMemory, 64 << 10},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrClockRate, 1980000},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrMultiProcessorCount, 132},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrEccEnabled, 1},
    {cudaDevAttrMemoryClockRate, 2619000},
    {cudaDevAttrGlobalMemoryBusWidth, 5120},
    {cudaDevAttrL2CacheSize, 50 << 20},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
    {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 << 10},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrClusterLaunch, 1},
    {cudaDevAttrIpcEventSupport, 1},
    {cudaDevAttrMemSyncDomainCount, 4},
};

constexpr int attribute_end = cudaDevAttrOnlyPartialHostNativeAtomicSupported + 1;

int attribute_of(cudaDeviceAttr name, DeviceSettings const& device) {
  if (name == cudaDevAttrPciBusId) return static_cast<int>(device.bus);
  if (name == cudaDevAttrPciDeviceId) return static_cast<int>(device.slot);
  if (name == cudaDevAttrPciDomainId) return static_cast<int>(device.domain);
  for (Attribute const& one : attributes) {
    if (one.name == name) return one.value;
  }
  return 0;
}

void fill_limits(cudaDeviceProp& all, DeviceSettings const& device) {
  auto const of = [&](cudaDeviceAttr name) { return attribute_of(name, device); };
  auto const bytes_of = [&](cudaDeviceAttr name) { return static_cast<std::size_t>(of(name)); };
  all.sharedMemPerBlock = bytes_of(cudaDevAttrMaxSharedMemoryPerBlock);
  all.sharedMemPerBlockOptin = bytes_of(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  all.sharedMemPerMultiprocessor = bytes_of(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  all.reservedSharedMemPerBlock = bytes_of(cudaDevAttrReservedSharedMemoryPerBlock);
  all.regsPerBlock = of(cudaDevAttrMaxRegistersPerBlock);
  all.regsPerMultiprocessor = of(cudaDevAttrMaxRegistersPerMultiprocessor);
  all.warpSize = of(cudaDevAttrWarpSize);
  all.memPitch = bytes_of(cudaDevAttrMaxPitch);
  all.maxThreadsPerBlock = of(cudaDevAttrMaxThreadsPerBlock);
  all.maxThreadsPerMultiProcessor = of(cudaDevAttrMaxThreadsPerMultiProcessor);
  all.maxBlocksPerMultiProcessor = of(cudaDevAttrMaxBlocksPerMultiprocessor);
  for (int axis = 0; axis < 3; ++axis) {
    all.maxThreadsDim[axis] = of(static_cast<cudaDeviceAttr>(cudaDevAttrMaxBlockDimX + axis));
    all.maxGridSize[axis] = of(static_cast<cudaDeviceAttr>(cudaDevAttrMaxGridDimX + axis));
  }
  all.totalConstMem = bytes_of(cudaDevAttrTotalConstantMemory);
  all.textureAlignment = bytes_of(cudaDevAttrTextureAlignment);
  all.texturePitchAlignment = bytes_of(cudaDevAttrTexturePitchAlignment);
  all.multiProcessorCount = of(cudaDevAttrMultiProcessorCount);
  all.memoryBusWidth = of(cudaDevAttrGlobalMemoryBusWidth);
  all.l2CacheSize = of(cudaDevAttrL2CacheSize);
}

void fill_abilities(cudaDeviceProp& all, DeviceSettings const& device) {
  auto const of = [&](cudaDeviceAttr name) { return attribute_of(name, device); };
  all.major = of(cudaDevAttrComputeCapabilityMajor);
  all.minor = of(cudaDevAttrComputeCapabilityMinor);
  all.canMapHostMemory = of(cudaDevAttrCanMapHostMemory);
  all.concurrentKernels = of(cudaDevAttrConcurrentKernels);
  all.ECCEnabled = of(cudaDevAttrEccEnabled);
  all.asyncEngineCount = of(cudaDevAttrAsyncEngineCount);
  all.unifiedAddressing = of(cudaDevAttrUnifiedAddressing);
  all.streamPrioritiesSupported = of(cudaDevAttrStreamPrioritiesSupported);
  all.globalL1CacheSupported = of(cudaDevAttrGlobalL1CacheSupported);
  all.localL1CacheSupported = of(cudaDevAttrLocalL1CacheSupported);
  all.managedMemory = of(cudaDevAttrManagedMemory);
  all.concurrentManagedAccess = of(cudaDevAttrConcurrentManagedAccess);
  all.computePreemptionSupported = of(cudaDevAttrComputePreemptionSupported);
  all.canUseHostPointerForRegisteredMem = of(cudaDevAttrCanUseHostPointerForRegisteredMem);
  all.cooperativeLaunch = of(cudaDevAttrCooperativeLaunch);
  all.hostRegisterSupported = of(cudaDevAttrHostRegisterSupported);
  all.memoryPoolsSupported = of(cudaDevAttrMemoryPoolsSupported);
  all.ipcEventSupported = of(cudaDevAttrIpcEventSupport);
  all.clusterLaunch = of(cudaDevAttrClusterLaunch);
}

}  // namespace
}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device) {
  return call([&] {
    require(value != nullptr);
    require(name > 0 && name < attribute_end);
    require_device(device);
    *value = attribute_of(name, Settings::get().visible[static_cast<std::size_t>(device)]);
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int device) {
  return call([&] {
    require(all != nullptr);
    require_device(device);
    DeviceSettings const& settings = Settings::get().visible[static_cast<std::size_t>(device)];
    *all = {};
    std::strcpy(all->name, "Berth stand-in (no GPU)");
    all->uuid = settings.uuid;
    all->totalGlobalMem = Settings::get().memory;
    all->pciDomainID = static_cast<int>(settings.domain);
    all->pciBusID = static_cast<int>(settings.bus);
    all->pciDeviceID = static_cast<int>(settings.slot);
    fill_limits(*all, settings);
    fill_abilities(*all, settings);
  });
}
