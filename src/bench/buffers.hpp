// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <berth/types.hpp>
#include <comm/impl.hpp>

namespace berth::bench {

/// Copies between any two places and returns when it is done.
void copy(Communicator::Impl& impl, void* to, void const* from, std::size_t bytes);

/// Memory of a benchmark: aligned to a cache line, owned, not initialised.
class Buffer {
 public:
  /// In host memory. @throws std::bad_alloc
  explicit Buffer(std::size_t bytes);
  /// In the memory of this rank's device, where the backend is nccl. `impl` outlives it.
  /// @throws Error out_of_memory, device
  Buffer(std::size_t bytes, Communicator::Impl& impl);
  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Writes every byte anew, so that the operation that follows meets data as a program leaves it:
  /// dirty in the own caches and in nobody else's. Small whole numbers of `type`.
  void rewrite(Type type, int rank) const;

 private:
  std::unique_ptr<std::byte, std::function<void(std::byte*)>> memory_;
  std::size_t size_;
  Communicator::Impl* device_ = nullptr;  ///< null: host memory
};

}  // namespace berth::bench
