// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <berth/types.hpp>

namespace berth::bench {

/// Memory of a benchmark: aligned to a cache line, owned, not initialised.
class Buffer {
 public:
  /// @throws std::bad_alloc
  explicit Buffer(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Writes every byte anew, so that the operation that follows meets data as a program leaves it:
  /// dirty in the own caches and in nobody else's. Small whole numbers of `type`.
  void rewrite(Type type, int rank) const;

 private:
  struct Release {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t size_;
};

}  // namespace berth::bench
