// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

/// The sizes of a sweep. Pure.
namespace berth::bench {

/// Sizes from `first` to `last`, times `factor` (2 or more) each. Empty when first > last.
std::vector<std::size_t> sizes_by_factor(std::size_t first, std::size_t last, std::size_t factor);
/// Sizes from `first` to `last`, plus `step` (1 or more) each. Empty when first > last.
std::vector<std::size_t> sizes_by_step(std::size_t first, std::size_t last, std::size_t step);

}  // namespace berth::bench
