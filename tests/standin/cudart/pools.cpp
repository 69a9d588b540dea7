// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "pools.hpp"

#include <map>
#include <memory>
#include <mutex>

#include <cuda_runtime_api.h>

#include "call.hpp"
#include "devices.hpp"
#include "memory.hpp"

// Pools are kept as the program sets them up; all memory comes from the device's one arena.
namespace berth::standin {
namespace {

struct Pool {
  int device = 0;
  std::map<cudaMemPoolAttr, unsigned long long> attributes;
};

struct Pools {
  std::mutex mutex;
  std::map<cudaMemPool_t, std::unique_ptr<Pool>> all;
  std::map<int, cudaMemPool_t> defaults;
  std::map<int, cudaMemPool_t> current;
};
Pools& pools() {
  static auto* const only = new Pools;
  return *only;
}

// The caller holds the lock of the pools.
cudaMemPool_t add_pool(int device) {
  require_device(device);
  auto pool = std::make_unique<Pool>();
  pool->device = device;
  auto const handle = reinterpret_cast<cudaMemPool_t>(pool.get());
  pools().all[handle] = std::move(pool);
  return handle;
}

cudaMemPool_t default_pool(int device) {
  require_device(device);
  cudaMemPool_t& pool = pools().defaults[device];
  if (pool == nullptr) pool = add_pool(device);
  return pool;
}

Pool& pool_at(cudaMemPool_t handle) {
  auto const found = pools().all.find(handle);
  require(found != pools().all.end());
  return *found->second;
}

// Three attributes are int, the others are 64 bits wide.
bool is_int(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies ||
         attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

void require_pool(cudaMemPool_t pool) {
  std::lock_guard const lock(pools().mutex);
  pool_at(pool);
}

void* allocate_in_stream(std::size_t size, Stream& stream) {
  require(size > 0);
  {
    auto const lock = lock_engine();
    if (stream.capture) spoil(*stream.capture, cudaErrorNotSupported);
  }
  return allocate_device(size, true);
}

void free_in_stream(void* at, Stream& stream) {
  std::optional<Block> const block = find_block(at);
  require(block && block->base == at && block->kind == Block::Kind::device);
  {
    auto const lock = lock_engine();
    if (stream.capture) spoil(*stream.capture, cudaErrorNotSupported);
  }
  change_block(at, [](Block& one) { one.going = true; });
  Step step;
  step.run = [gone = *block] { release(gone); };
  submit(stream, std::move(step));
}

}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    require(pool != nullptr);
    std::lock_guard const lock(pools().mutex);
    *pool = default_pool(device);
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    require(pool != nullptr);
    std::lock_guard const lock(pools().mutex);
    cudaMemPool_t const current = pools().current[device];
    *pool = current != nullptr ? current : default_pool(device);
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call([&] {
    require_device(device);
    std::lock_guard const lock(pools().mutex);
    require(pool_at(pool).device == device);
    pools().current[device] = pool;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, cudaMemPoolProps const* properties) {
  return call([&] {
    require(pool != nullptr && properties != nullptr);
    require(properties->location.type == cudaMemLocationTypeDevice, cudaErrorNotSupported);
    std::lock_guard const lock(pools().mutex);
    *pool = add_pool(properties->location.id);
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] {
    std::lock_guard const lock(pools().mutex);
    int const device = pool_at(pool).device;
    require(pool != pools().defaults[device]);
    if (pools().current[device] == pool) pools().current.erase(device);
    pools().all.erase(pool);
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call([&] { require_pool(pool); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    require(value != nullptr);
    std::lock_guard const lock(pools().mutex);
    pool_at(pool).attributes[attribute] =
        is_int(attribute) ? static_cast<unsigned long long>(*static_cast<int*>(value))
                          : *static_cast<unsigned long long*>(value);
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    require(value != nullptr);
    std::lock_guard const lock(pools().mutex);
    Pool& known = pool_at(pool);
    unsigned long long kept = known.attributes[attribute];
    if (attribute == cudaMemPoolAttrUsedMemCurrent ||
        attribute == cudaMemPoolAttrReservedMemCurrent) {
      kept = used_memory(known.device);
    }
    if (is_int(attribute)) {
      *static_cast<int*>(value) = static_cast<int>(kept);
    } else {
      *static_cast<unsigned long long*>(value) = kept;
    }
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, cudaMemAccessDesc const* list, size_t count) {
  return call([&] {
    require(list != nullptr || count == 0);
    require_pool(pool);
  });
}
