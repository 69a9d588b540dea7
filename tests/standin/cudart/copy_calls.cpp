// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "call.hpp"
#include "copy.hpp"
#include "default_stream.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "pools.hpp"
#include "stream.hpp"

// Compiled twice, see default_stream.hpp.
using namespace berth::standin;

cudaError_t cudaMemcpy(void* to, void const* from, size_t count, cudaMemcpyKind kind) {
  return call([&] { copy_now({to, from, count}, kind, *find_stream(chosen(nullptr))); });
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&] { copy_async({to, from, count}, kind, *find_stream(chosen(stream))); });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, void const* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return call([&] {
    Copy const copy = {to, from, width, height, to_pitch, from_pitch};
    copy_now(copy, kind, *find_stream(chosen(nullptr)));
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, void const* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return call([&] {
    Copy const copy = {to, from, width, height, to_pitch, from_pitch};
    copy_async(copy, kind, *find_stream(chosen(stream)));
  });
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, void const* const* from, size_t const* sizes,
                                 size_t count, cudaMemcpyAttributes* attributes,
                                 size_t* attribute_indices, size_t attribute_count,
                                 cudaStream_t stream) {
  return call([&] {
    require(to != nullptr && from != nullptr && sizes != nullptr && count > 0);
    require(attributes != nullptr && attribute_indices != nullptr && attribute_count > 0);
    require(stream != nullptr && stream != cudaStreamLegacy);
    std::shared_ptr<Stream> const found = find_stream(stream);
    for (size_t i = 0; i < count; ++i) {
      copy_async({to[i], from[i], sizes[i]}, cudaMemcpyDefault, *found);
    }
  });
}

cudaError_t cudaMemcpyToSymbol(void const* symbol, void const* from, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return call([&] {
    copy_now({in_variable(symbol, offset, count), from, count}, kind,
             *find_stream(chosen(nullptr)));
  });
}

cudaError_t cudaMemcpyToSymbolAsync(void const* symbol, void const* from, size_t count,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    copy_async({in_variable(symbol, offset, count), from, count}, kind,
               *find_stream(chosen(stream)));
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, void const* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  return call([&] {
    copy_now({to, in_variable(symbol, offset, count), count}, kind, *find_stream(chosen(nullptr)));
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, void const* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    copy_async({to, in_variable(symbol, offset, count), count}, kind, *find_stream(chosen(stream)));
  });
}

cudaError_t cudaMemset(void* at, int value, size_t count) {
  return call([&] { fill_now({at, value, count}, *find_stream(chosen(nullptr))); });
}

cudaError_t cudaMemsetAsync(void* at, int value, size_t count, cudaStream_t stream) {
  return call([&] { fill_async({at, value, count}, *find_stream(chosen(stream))); });
}

cudaError_t cudaMemset2D(void* at, size_t pitch, int value, size_t width, size_t height) {
  return call([&] { fill_now({at, value, width, height, pitch}, *find_stream(chosen(nullptr))); });
}

cudaError_t cudaMemset2DAsync(void* at, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return call([&] { fill_async({at, value, width, height, pitch}, *find_stream(chosen(stream))); });
}

cudaError_t cudaMallocAsync(void** at, size_t size, cudaStream_t stream) {
  return call([&] {
    require(at != nullptr);
    *at = allocate_in_stream(size, *find_stream(chosen(stream)));
  });
}

cudaError_t cudaMallocFromPoolAsync(void** at, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call([&] {
    require(at != nullptr);
    require_pool(pool);
    *at = allocate_in_stream(size, *find_stream(chosen(stream)));
  });
}

cudaError_t cudaFreeAsync(void* at, cudaStream_t stream) {
  return call([&] {
    if (at != nullptr) free_in_stream(at, *find_stream(chosen(stream)));
  });
}

cudaError_t cudaMemPrefetchAsync(void const* at, size_t count, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
  return call([&] {
    std::optional<Block> const block = find_block(at);
    require(block && block->kind == Block::Kind::managed && count <= block->left_from(at));
    require(flags == 0 && location.type != cudaMemLocationTypeInvalid);
    submit(*find_stream(chosen(stream)), {});
  });
}
