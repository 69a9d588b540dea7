// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <pattern/pattern.hpp>

/// How an element comes from rank and index; private to the room.
///
/// Indices form blocks of eight. In each block one rank is *chosen*, block by block and round by
/// round another one. A hash h of index, round, type and op is the same on all ranks:
///
///   sum   ±(f + 1 + digit), the sign and f from h, and for the chosen rank ±heavy on top
///   prod  ±1, the sign from h and a bit of the rank; for the chosen rank ±base^(1 + e), e from h
///   min   f − 2^15, f from h, for the chosen rank; 1 + digit more for the others
///   max   the same with the other sign
///
/// `digit` is a digit of the rank, another one from index to index, so that some indices together
/// spell the rank. All this reduces to a term in h, the number of ranks, and the sum of a digit or
/// the parity of a bit over all ranks, which have a closed form: the right result of any number of
/// ranks costs no more than a contribution.
namespace berth::pattern {

/// Elements of a block.
inline constexpr std::size_t block_elements = 8;

/// What is computed once for a call. It describes either the contribution of one rank or the
/// reduced result of all.
struct Recipe {
  std::uint32_t seed = 0;                    ///< of round, type and op
  int fraction_bits = 0;                     ///< of f in a sum
  std::uint32_t factor = 1;                  ///< of f in a sum: 1, or the number of ranks
  std::int32_t offset[block_elements] = {};  ///< 1 + digit, or its sum over the ranks
  std::uint32_t sign[block_elements] = {};   ///< of a product: a bit of the rank, or its parity
  std::uint32_t hash_sign = 1;               ///< 0 when the signs that come from h cancel
  std::uint32_t ranks = 1;
  std::uint32_t rank = 0;  ///< ignored when `reduced`
  std::uint32_t round = 0;
  bool reduced = false;
};

/// The recipe for the contribution of `rank`.
Recipe single_recipe(Code const& code, int rank);
/// The recipe for the result of all ranks.
Recipe reduced_recipe(Code const& code);

/// How many of the numbers 0 .. n−1 have bit `bit` set.
std::uint64_t count_with_bit(std::uint64_t n, int bit);

}  // namespace berth::pattern
