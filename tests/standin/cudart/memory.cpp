// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "state.hpp"

using namespace berth::standin::cuda;

namespace {

constexpr std::size_t alignment = 256;

cudaError_t allocate(void** memory, std::size_t bytes, Kind kind) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  std::size_t const whole = (bytes + alignment - 1) / alignment * alignment;
  void* const made = whole < bytes ? nullptr : std::aligned_alloc(alignment, whole);
  if (made == nullptr) return note(cudaErrorMemoryAllocation);
  State& all = state();
  std::lock_guard<std::mutex> const lock(all.mutex);
  all.blocks[reinterpret_cast<std::uintptr_t>(made)] = {bytes, kind, current_device()};
  *memory = made;
  return cudaSuccess;
}

/// Forgets the block that begins here; false when there is none of such a kind.
bool forget(void* memory, bool is_host) {
  State& all = state();
  std::lock_guard<std::mutex> const lock(all.mutex);
  auto const found = all.blocks.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == all.blocks.end() || is_host != (found->second.kind == Kind::host)) return false;
  all.blocks.erase(found);
  return true;
}

cudaError_t release(void* memory, bool is_host) {
  if (memory == nullptr) return broken();
  drain_device(current_device());  // work may still use it
  if (!forget(memory, is_host)) return note(cudaErrorInvalidValue);
  std::free(memory);
  return broken();
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  State& all = state();
  if (all.faults.failing_malloc != 0 && ++all.mallocs == all.faults.failing_malloc)
    return note(cudaErrorMemoryAllocation);
  return allocate(memory, bytes, Kind::device);
}
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return allocate(memory, bytes, Kind::managed);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, Kind::host);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return allocate(memory, bytes, Kind::host);
}
cudaError_t cudaFree(void* memory) {
  return release(memory, false);
}
cudaError_t cudaFreeHost(void* memory) {
  return release(memory, true);
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned /*flags*/) {
  if (memory == nullptr || bytes == 0) return note(cudaErrorInvalidValue);
  State& all = state();
  std::lock_guard<std::mutex> const lock(all.mutex);
  bool const is_new = all.blocks
                          .try_emplace(reinterpret_cast<std::uintptr_t>(memory),
                                       Block{bytes, Kind::registered, current_device()})
                          .second;
  return is_new ? cudaSuccess : note(cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void* memory) {
  State& all = state();
  std::lock_guard<std::mutex> const lock(all.mutex);
  auto const found = all.blocks.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == all.blocks.end() || found->second.kind != Kind::registered)
    return note(cudaErrorHostMemoryNotRegistered);
  all.blocks.erase(found);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* memory) {
  *attributes = cudaPointerAttributes{};
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = -2;
  auto const address = reinterpret_cast<std::uintptr_t>(memory);
  State& all = state();
  std::lock_guard<std::mutex> const lock(all.mutex);
  auto found = all.blocks.upper_bound(address);
  if (found == all.blocks.begin()) return broken();
  --found;
  Block const& block = found->second;
  if (address >= found->first + block.bytes) return broken();
  void* const same = const_cast<void*>(memory);
  attributes->device = block.device;
  attributes->devicePointer = same;
  switch (block.kind) {
    case Kind::device:
      attributes->type = cudaMemoryTypeDevice;
      break;
    case Kind::managed:
      attributes->type = cudaMemoryTypeManaged;
      attributes->hostPointer = same;
      break;
    case Kind::host:
    case Kind::registered:
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = same;
      break;
  }
  return broken();
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  if (bytes > 0) enqueue(stream_of(stream), [to, from, bytes] { std::memmove(to, from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaError_t const error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  if (bytes > 0)
    enqueue(stream_of(stream), [memory, value, bytes] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  cudaError_t const error = cudaMemsetAsync(memory, value, bytes, nullptr);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

}  // extern "C"
