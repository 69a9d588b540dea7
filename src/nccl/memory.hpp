// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <gpu/runtime.hpp>

namespace berth::nccl {

/// Device memory that goes with its owner.
class Memory {
 public:
  explicit Memory(gpu::Runtime& runtime) : runtime_(runtime) {}
  ~Memory() {
    if (data_ != nullptr) runtime_.free(data_);
  }
  Memory(Memory const&) = delete;
  Memory& operator=(Memory const&) = delete;
  /// At least `bytes`; what was in it is lost when it grows.
  void* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      if (data_ != nullptr) runtime_.free(data_);
      data_ = nullptr;
      bytes_ = 0;
      data_ = runtime_.allocate(bytes);
      bytes_ = bytes;
    }
    return data_;
  }

 private:
  gpu::Runtime& runtime_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

inline std::byte* offset(void* base, std::size_t bytes) {
  return static_cast<std::byte*>(base) + bytes;
}
inline std::byte const* offset(void const* base, std::size_t bytes) {
  return static_cast<std::byte const*>(base) + bytes;
}

}  // namespace berth::nccl
