// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <berth/types.hpp>

/// Coded data: every element depends on rank, index and round, so that a wrong, lost, shifted or
/// stale element shows. Pure. All values are integers that are exact in every type, so that a
/// reduced result has one right value whatever the order of the reduction.
///
/// What a check of the reduced result sees when one bit of one element of one contribution is
/// flipped (in each block of eight indices one rank is *chosen*, another one from block to block
/// and from round to round):
///
///   sum, prod of integers  every bit
///   prod of floats         every bit
///   sum of floats          every bit of the chosen rank; of the others the sign, the exponent and
///                          fraction bits worth 1/2 or more: smaller ones round away
///   min, max               every bit of the chosen rank; of the others only what makes them win
///
/// A bit flipped in the result always shows. A lost or doubled contribution shows in every element
/// of a sum, of a product where it is not 1, and of min and max only where it is that of the chosen
/// rank (doubled: never). The sum of floats is exact for up to four million ranks.
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
  std::size_t wrong = 0;        ///< elements that differ
  std::size_t first_wrong = 0;  ///< index of the first one; undefined when wrong == 0
  std::uint64_t flipped = 0;    ///< its bits xor the right bits
};
/// Compares with the right reduced result of all ranks.
Check check_reduced(Code const& code, void const* data, std::size_t first, std::size_t count);
/// Compares with the contribution of `rank` alone.
Check check_single(Code const& code, int rank, void const* data, std::size_t first,
                   std::size_t count);

}  // namespace berth::pattern
