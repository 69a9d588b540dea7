// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cuda_runtime_api.h>

#include "call.hpp"
#include "devices.hpp"
#include "kernels.hpp"
#include "stream.hpp"

// Handles of streams and kernels, and questions about kernels.
using namespace berth::standin;

namespace {

int blocks_at_once(int block_size) {
  require(block_size > 0);
  return block_size > 1024 ? 0 : std::min(32, 2048 / block_size);
}

// What <<<...>>> was given, until the stub of the kernel takes it.
struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared_memory = 0;
  cudaStream_t stream = nullptr;
};
thread_local CallConfiguration pushed;

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return call([&] {
    require(stream != nullptr);
    *stream = create_stream(flags, priority);
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] { destroy_stream(stream); });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, void const* symbol) {
  return call([&] {
    require(function != nullptr);
    auto const* const kernel = &find_kernel(symbol);
    *function = reinterpret_cast<cudaFunction_t>(const_cast<Kernel*>(kernel));
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, void const* symbol) {
  return call([&] {
    require(handle != nullptr);
    auto const* const kernel = &find_kernel(symbol);
    *handle = reinterpret_cast<cudaKernel_t>(const_cast<Kernel*>(kernel));
  });
}

cudaError_t cudaFuncGetName(char const** name, void const* kernel) {
  return call([&] {
    require(name != nullptr);
    *name = find_kernel(kernel).name.c_str();
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* all, void const* kernel) {
  return call([&] {
    require(all != nullptr);
    find_kernel(kernel);
    *all = {};
    all->maxThreadsPerBlock = 1024;
    all->maxDynamicSharedSizeBytes = 48 << 10;
    all->numRegs = 32;
    all->ptxVersion = 90;
    all->binaryVersion = 90;
  });
}

cudaError_t cudaFuncSetAttribute(void const* kernel, cudaFuncAttribute attribute, int) {
  return call([&] {
    find_kernel(kernel);
    require(attribute >= 0 && attribute < cudaFuncAttributeMax);
  });
}

cudaError_t cudaFuncSetCacheConfig(void const* kernel, cudaFuncCache) {
  return call([&] { find_kernel(kernel); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void const* kernel,
                                                          int block_size, size_t) {
  return call([&] {
    require(blocks != nullptr);
    find_kernel(kernel);
    *blocks = blocks_at_once(block_size);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void const* kernel,
                                                                   int block_size, size_t shared,
                                                                   unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared);
}

cudaError_t cudaProfilerStart() {
  return call([] {});
}

cudaError_t cudaProfilerStop() {
  return call([] {});
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&] {
    require(value != nullptr);
    require(limit >= 0 && limit <= cudaLimitPersistingL2CacheSize, cudaErrorUnsupportedLimit);
    *value = limit == cudaLimitStackSize ? 1024 : 0;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t) {
  return call([&] {
    require(limit >= 0 && limit <= cudaLimitPersistingL2CacheSize, cudaErrorUnsupportedLimit);
  });
}

// What nvcc puts in place of <<<...>>>; no public header has it.
extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_memory,
                                     CUstream_st* stream) {
  pushed = {grid, block, shared_memory, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_memory,
                                       void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared_memory = pushed.shared_memory;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, void const* symbol) {
  return cudaGetKernel(handle, symbol);
}
}
