// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <cuda_runtime_api.h>

namespace berth::standin {

/// Memory that the runtime knows about.
struct Block {
  enum class Kind {
    device,      ///< of cudaMalloc
    imported,    ///< device memory of another process
    managed,     ///< of cudaMallocManaged
    host,        ///< of cudaMallocHost
    registered,  ///< the program's own, page-locked by cudaHostRegister
  };
  std::byte* base = nullptr;
  std::size_t size = 0;
  Kind kind = Kind::device;
  int device = 0;
  unsigned flags = 0;
  bool stream_ordered = false;  ///< of cudaMallocAsync
  bool going = false;           ///< cudaFreeAsync was called and is not done yet
  unsigned long opened = 1;     ///< how often cudaIpcOpenMemHandle gave it away

  [[nodiscard]] bool for_host() const { return kind >= Kind::managed; }
  [[nodiscard]] std::size_t left_from(void const* at) const {
    return size - static_cast<std::size_t>(static_cast<std::byte const*>(at) - base);
  }
};

/// The block that the address lies in, also in its middle; a copy.
std::optional<Block> find_block(void const* at);
/// The block that begins at the address and is of this kind; fails with `otherwise`.
Block take_block(void const* base, Block::Kind kind, cudaError_t otherwise);
void add_block(Block const& block);
/// Changes the block that begins there, under the lock of the list.
void change_block(void const* base, std::function<void(Block&)> const& change);

/// Device memory of the current device; fails with cudaErrorMemoryAllocation.
void* allocate_device(std::size_t size, bool stream_ordered);
void* allocate_managed(std::size_t size, unsigned flags);
/// Gives memory of any kind back, whether the list still has it or not.
void release(Block const& block);
void free_blocks_of(int device);
std::size_t used_memory(int device);

/// Where device memory lies for other processes: offset in a memfd of this process.
struct Exported {
  int descriptor;
  unsigned long inode;
  std::size_t offset;
  std::size_t bytes;
};
Exported exported(Block const& block);

}  // namespace berth::standin
