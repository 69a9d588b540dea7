// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace berth::micro {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Memory that begins at a page, touched, filled with the byte `value`.
inline std::unique_ptr<void, Free> pages(std::size_t bytes, int value) {
  std::size_t const whole = (bytes + 4095) / 4096 * 4096;
  std::unique_ptr<void, Free> memory(std::aligned_alloc(4096, whole));
  if (memory != nullptr) std::memset(memory.get(), value, whole);
  return memory;
}

}  // namespace berth::micro
