// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Arithmetic on every type of NCCL. Contributions are combined in rank order: integers in their
/// own type with wrap-around, float and double in theirs, smaller floats in float. The result is
/// rounded once. ncclAvg divides the sum by the number of ranks; integers are divided towards zero.
#pragma once

#include <cstddef>
#include <vector>

#include "nccl_api.hpp"

namespace standin {

/// A reduction, with the factor of a PreMulSum.
struct Reduction {
  ncclRedOp_t op = ncclSum;      ///< one of the built-in ones
  bool scaled = false;           ///< each contribution is multiplied first
  void const* device = nullptr;  ///< where the factor is read when the operation runs, or null
  std::byte factor[8] = {};      ///< the factor, when it was given at once
};

/// Bytes of one element; 0 for what is no type.
std::size_t size_of(ncclDataType_t type);

/// result[i] = contributions[0][i] op contributions[1][i] ..; `result` may be one of them.
void reduce(Reduction const& reduction, ncclDataType_t type,
            std::vector<std::byte const*> const& contributions, std::byte* result,
            std::size_t count);

}  // namespace standin
