// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>

namespace berth::standin {

/// The memory of one device: a memfd, so that other processes of the machine can map parts of it,
/// and nothing stays behind when the process ends. The bytes between the end of an allocation and
/// its last page hold a pattern that is checked when it is freed; the page after it cannot be
/// touched. Not for several threads at once.
class Arena {
 public:
  explicit Arena(std::size_t capacity);
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  /// Zeroed, on a page of its own. Fails with cudaErrorMemoryAllocation.
  std::byte* allocate(std::size_t size);
  /// Ends the process if somebody wrote behind the allocation.
  void release(std::byte* at, std::size_t size);

  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] unsigned long inode() const { return inode_; }
  [[nodiscard]] std::size_t offset_of(std::byte const* at) const {
    return static_cast<std::size_t>(at - base_);
  }
  static std::size_t mapped_bytes(std::size_t size);

 private:
  std::size_t capacity_;
  std::size_t space_;
  std::size_t used_ = 0;
  int descriptor_ = -1;
  unsigned long inode_ = 0;
  std::byte* base_ = nullptr;
  std::map<std::size_t, std::size_t> gaps_;  ///< offset and length
};

}  // namespace berth::standin
