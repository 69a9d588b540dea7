// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <berth/types.hpp>
#include <cstddef>
#include <cstdint>

/// Coded data: every element depends on rank, index and round, so that a wrong, lost, shifted or
/// stale element shows. Pure. All values are small integers, exact in every type, so that a
/// reduced result has one right value whatever the order of the reduction.
namespace berth::pattern {

/// Which data: the round keeps old data from looking right.
struct Code {
  Type type = Type::float32;
  Op op = Op::sum;
  int ranks = 1;
  std::uint32_t round = 0;
};

/// Writes the contribution of `rank`: elements [first, first + count).
void fill(Code const& code, int rank, void* out, std::size_t first, std::size_t count);
/// Writes the identity of the operation, for a rank that is not to contribute.
void fill_identity(Code const& code, void* out, std::size_t count);

/// Result of a comparison.
struct Check {
  std::size_t wrong = 0;         ///< elements that differ
  std::size_t first_wrong = 0;   ///< index of the first one; undefined when wrong == 0
  std::uint64_t flipped = 0;     ///< its bits xor the right bits
};
/// Compares with the right reduced result of all ranks.
Check check_reduced(Code const& code, void const* data, std::size_t first, std::size_t count);
/// Compares with the contribution of `rank` alone.
Check check_single(Code const& code, int rank, void const* data, std::size_t first,
                   std::size_t count);

}  // namespace berth::pattern
