// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <sys/mman.h>

#include "call.hpp"
#include "devices.hpp"
#include "graph.hpp"
#include "memory.hpp"
#include "settings.hpp"
#include "stream.hpp"

// Allocation and what the runtime knows of a pointer.
namespace berth::standin {
namespace {

constexpr unsigned host_flags =
    cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned register_flags = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                    cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

void* allocate_host(std::size_t size, unsigned flags) {
  require_safe_to_call();
  if (size == 0) return nullptr;
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(at != MAP_FAILED, cudaErrorMemoryAllocation);
  Block block;
  block.base = static_cast<std::byte*>(at);
  block.size = size;
  block.kind = Block::Kind::host;
  block.device = current_device();
  block.flags = flags;
  add_block(block);
  return at;
}

void register_host(void* at, std::size_t size, unsigned flags) {
  require(at != nullptr && size > 0 && (flags & ~register_flags) == 0);
  require_safe_to_call();
  auto* const base = static_cast<std::byte*>(at);
  require(!find_block(base) && !find_block(base + size - 1), cudaErrorHostMemoryAlreadyRegistered);
  Block block;
  block.base = base;
  block.size = size;
  block.kind = Block::Kind::registered;
  block.device = current_device();
  block.flags = flags;
  add_block(block);
}

// Memory goes only when no work can still use it.
void free_device(void* at) {
  std::optional<Block> const block = find_block(at);
  require(block && block->base == at);
  require(block->kind == Block::Kind::device || block->kind == Block::Kind::managed);
  wait_for_device(block->device);
  release(take_block(at, block->kind, cudaErrorInvalidValue));
}

cudaPointerAttributes attributes_of(void const* at) {
  cudaPointerAttributes all = {};
  auto* const pointer = const_cast<void*>(at);
  std::optional<Block> const block = find_block(at);
  if (!block) {
    all.type = cudaMemoryTypeUnregistered;
    all.device = cudaInvalidDeviceId;
    all.hostPointer = pointer;
    return all;
  }
  all.device = block->device;
  all.devicePointer = pointer;
  all.hostPointer = block->for_host() ? pointer : nullptr;
  if (block->kind == Block::Kind::managed) {
    all.type = cudaMemoryTypeManaged;
  } else {
    all.type = block->for_host() ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  }
  return all;
}

Block host_block(void const* at) {
  std::optional<Block> const block = find_block(at);
  bool const good =
      block && (block->kind == Block::Kind::host || block->kind == Block::Kind::registered);
  require(good);
  return *block;
}

}  // namespace
}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaMalloc(void** at, size_t size) {
  return call([&] {
    require(at != nullptr);
    require_safe_to_call();
    *at = size == 0 ? nullptr : allocate_device(size, false);
  });
}

cudaError_t cudaMallocPitch(void** at, size_t* pitch, size_t width, size_t height) {
  return call([&] {
    require(at != nullptr && pitch != nullptr && width > 0 && height > 0);
    require_safe_to_call();
    *pitch = (width + 511) / 512 * 512;
    *at = allocate_device(*pitch * height, false);
  });
}

cudaError_t cudaMallocManaged(void** at, size_t size, unsigned int flags) {
  return call([&] {
    require(at != nullptr && size > 0);
    require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost);
    require_safe_to_call();
    *at = allocate_managed(size, flags);
  });
}

cudaError_t cudaFree(void* at) {
  return call([&] {
    if (at == nullptr) return;
    require_safe_to_call();
    free_device(at);
  });
}

cudaError_t cudaMallocHost(void** at, size_t size) {
  return call([&] {
    require(at != nullptr);
    *at = allocate_host(size, cudaHostAllocDefault);
  });
}

cudaError_t cudaHostAlloc(void** at, size_t size, unsigned int flags) {
  return call([&] {
    require(at != nullptr && (flags & ~host_flags) == 0);
    *at = allocate_host(size, flags);
  });
}

cudaError_t cudaFreeHost(void* at) {
  return call([&] {
    if (at == nullptr) return;
    require_safe_to_call();
    std::optional<Block> const block = find_block(at);
    require(block && block->base == at && block->kind == Block::Kind::host);
    for (int device = 0; device < device_count(); ++device) wait_for_device(device);
    release(take_block(at, Block::Kind::host, cudaErrorInvalidValue));
  });
}

cudaError_t cudaHostRegister(void* at, size_t size, unsigned int flags) {
  return call([&] { register_host(at, size, flags); });
}

cudaError_t cudaHostUnregister(void* at) {
  return call([&] {
    require(at != nullptr);
    require_safe_to_call();
    take_block(at, Block::Kind::registered, cudaErrorHostMemoryNotRegistered);
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host, unsigned int flags) {
  return call([&] {
    require(device_pointer != nullptr && flags == 0);
    host_block(host);
    *device_pointer = host;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return call([&] {
    require(flags != nullptr);
    *flags = host_block(host).flags | unsigned{cudaHostAllocMapped};
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* all, void const* at) {
  return call([&] {
    require(all != nullptr);
    *all = attributes_of(at);
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return call([&] {
    require(free_bytes != nullptr && total != nullptr);
    *total = Settings::get().memory;
    *free_bytes = *total - used_memory(current_device());
  });
}
