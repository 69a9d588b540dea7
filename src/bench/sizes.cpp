// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <bench/sizes.hpp>

namespace berth::bench {

std::vector<std::size_t> sizes_by_factor(std::size_t first, std::size_t last, std::size_t factor) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last; size *= factor) {
    sizes.push_back(size);
    if (size == 0 || size > last / factor) break;
  }
  return sizes;
}

std::vector<std::size_t> sizes_by_step(std::size_t first, std::size_t last, std::size_t step) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last; size += step) {
    sizes.push_back(size);
    if (last - size < step) break;
  }
  return sizes;
}

}  // namespace berth::bench
