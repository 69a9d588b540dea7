// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <memory>
#include <vector>

#include <sys/mman.h>

#include "arena.hpp"
#include "call.hpp"
#include "devices.hpp"
#include "settings.hpp"

namespace berth::standin {
namespace {

struct Heap {
  std::mutex mutex;
  std::map<std::byte const*, Block> blocks;
  std::map<int, std::unique_ptr<Arena>> arenas;
};
Heap& heap() {
  static auto* const only = new Heap;
  return *only;
}

// The caller holds the lock of the heap.
Arena& arena_of(int device) {
  std::unique_ptr<Arena>& arena = heap().arenas[device];
  if (!arena) arena = std::make_unique<Arena>(Settings::get().memory);
  return *arena;
}

Block* block_at(void const* at) {
  auto const* const address = static_cast<std::byte const*>(at);
  auto const behind = heap().blocks.upper_bound(address);
  if (behind == heap().blocks.begin()) return nullptr;
  Block& block = std::prev(behind)->second;
  return address < block.base + block.size ? &block : nullptr;
}

}  // namespace

std::optional<Block> find_block(void const* at) {
  std::lock_guard const lock(heap().mutex);
  Block const* const block = block_at(at);
  if (block == nullptr || block->going) return std::nullopt;
  return *block;
}

void add_block(Block const& block) {
  std::lock_guard const lock(heap().mutex);
  heap().blocks[block.base] = block;
}

void change_block(void const* base, std::function<void(Block&)> const& change) {
  std::lock_guard const lock(heap().mutex);
  auto const found = heap().blocks.find(static_cast<std::byte const*>(base));
  if (found != heap().blocks.end()) change(found->second);
}

Block take_block(void const* base, Block::Kind kind, cudaError_t otherwise) {
  std::lock_guard const lock(heap().mutex);
  auto const found = heap().blocks.find(static_cast<std::byte const*>(base));
  bool const good = found != heap().blocks.end() && found->second.kind == kind;
  require(good, otherwise);
  Block const block = found->second;
  heap().blocks.erase(found);
  return block;
}

void* allocate_device(std::size_t size, bool stream_ordered) {
  count_malloc();
  std::lock_guard const lock(heap().mutex);
  Block block;
  block.size = size;
  block.device = current_device();
  block.stream_ordered = stream_ordered;
  block.base = arena_of(block.device).allocate(size);
  heap().blocks[block.base] = block;
  return block.base;
}

void* allocate_managed(std::size_t size, unsigned flags) {
  count_malloc();
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(at != MAP_FAILED, cudaErrorMemoryAllocation);
  Block block;
  block.base = static_cast<std::byte*>(at);
  block.size = size;
  block.kind = Block::Kind::managed;
  block.device = current_device();
  block.flags = flags;
  add_block(block);
  return at;
}

void release(Block const& block) {
  switch (block.kind) {
    case Block::Kind::device: {
      std::lock_guard const lock(heap().mutex);
      heap().blocks.erase(block.base);
      arena_of(block.device).release(block.base, block.size);
      break;
    }
    case Block::Kind::imported:
      munmap(block.base, Arena::mapped_bytes(block.size));
      break;
    case Block::Kind::managed:
    case Block::Kind::host:
      munmap(block.base, block.size);
      break;
    case Block::Kind::registered:
      break;
  }
}

void free_blocks_of(int device) {
  std::vector<Block> gone;
  {
    std::lock_guard const lock(heap().mutex);
    std::erase_if(heap().blocks, [&](auto const& entry) {
      Block const& block = entry.second;
      if (block.device != device || block.stream_ordered) return false;
      gone.push_back(block);
      return true;
    });
  }
  for (Block const& block : gone) release(block);
}

std::size_t used_memory(int device) {
  std::lock_guard const lock(heap().mutex);
  return arena_of(device).used();
}

Exported exported(Block const& block) {
  std::lock_guard const lock(heap().mutex);
  Arena const& arena = arena_of(block.device);
  return {arena.descriptor(), arena.inode(), arena.offset_of(block.base), block.size};
}

}  // namespace berth::standin
