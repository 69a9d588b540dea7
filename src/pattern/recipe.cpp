// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <pattern/recipe.hpp>

namespace berth::pattern {
namespace {

/// What f and digits may add up to over all ranks: the heavy part and the whole sum then lie in one
/// binade, where a float still has one bit below the units.
std::uint32_t capacity(Type type) {
  switch (type) {
    case Type::bfloat16:
      return std::uint32_t{1} << 6;
    case Type::float16:
      return std::uint32_t{1} << 9;
    case Type::float32:
      return std::uint32_t{1} << 21;
    default:
      return std::uint32_t{1} << 29;
  }
}

/// How the bits of a contribution to a sum are shared out.
struct Widths {
  int digit;     ///< bits of a digit of the rank
  int fraction;  ///< bits of f
};

Widths widths(Code const& code) {
  if (code.op != Op::sum && code.op != Op::avg) return {4, 0};
  std::uint32_t const room = capacity(code.type) / static_cast<std::uint32_t>(code.ranks);
  int const total = std::max(0, static_cast<int>(std::bit_width(room)) - 1);
  // 2^fraction + 2^digit is at most 2^total.
  if (total >= 6) return {4, std::min(total - 1, 20)};
  int const digit = total / 2;
  return {digit, std::max(0, total - digit - 1)};
}

/// Bits that a rank number needs, at least one.
int rank_bits(Code const& code) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint32_t>(code.ranks - 1))));
}

/// The lowest bit of the digit that the index with number `place` of its block shows.
int digit_shift(Code const& code, int digit_bits, std::size_t place) {
  int const digits = (rank_bits(code) + digit_bits - 1) / digit_bits;
  return static_cast<int>(place) % digits * digit_bits;
}

/// The sum of one digit over all ranks.
std::uint64_t digit_sum(std::uint64_t ranks, int shift, int digit_bits) {
  std::uint64_t sum = 0;
  for (int bit = 0; bit < digit_bits; ++bit) sum += count_with_bit(ranks, shift + bit) << bit;
  return sum;
}

/// What a single recipe and a reduced one share.
Recipe common(Code const& code) {
  Recipe recipe;
  recipe.seed = code.round * 0x85ebca6bu + static_cast<std::uint32_t>(code.op) * 0x27220a95u +
                static_cast<std::uint32_t>(code.type) * 0x165667b1u + 0x3c6ef372u;
  recipe.fraction_bits = widths(code).fraction;
  recipe.ranks = static_cast<std::uint32_t>(code.ranks);
  recipe.round = code.round;
  return recipe;
}

}  // namespace

std::uint64_t count_with_bit(std::uint64_t n, int bit) {
  std::uint64_t const half = std::uint64_t{1} << bit;
  std::uint64_t const rest = n & (2 * half - 1);
  return n / (2 * half) * half + (rest > half ? rest - half : 0);
}

Recipe single_recipe(Code const& code, int rank) {
  Recipe recipe = common(code);
  recipe.rank = static_cast<std::uint32_t>(rank);
  int const digit_bits = widths(code).digit;
  for (std::size_t place = 0; place < block_elements; ++place) {
    std::uint32_t digit = 0;
    if (digit_bits > 0) {
      std::uint32_t const mask = (std::uint32_t{1} << digit_bits) - 1;
      digit = recipe.rank >> digit_shift(code, digit_bits, place) & mask;
    }
    recipe.offset[place] = static_cast<std::int32_t>(1 + digit);
    recipe.sign[place] = recipe.rank >> (static_cast<int>(place) % rank_bits(code)) & 1;
  }
  return recipe;
}

Recipe reduced_recipe(Code const& code) {
  Recipe recipe = common(code);
  recipe.reduced = true;
  recipe.factor = recipe.ranks;
  recipe.hash_sign = recipe.ranks & 1;
  int const digit_bits = widths(code).digit;
  for (std::size_t place = 0; place < block_elements; ++place) {
    std::uint64_t digits = 0;
    if (digit_bits > 0) {
      digits = digit_sum(recipe.ranks, digit_shift(code, digit_bits, place), digit_bits);
    }
    recipe.offset[place] = static_cast<std::int32_t>(recipe.ranks + digits);
    int const bit = static_cast<int>(place) % rank_bits(code);
    recipe.sign[place] = static_cast<std::uint32_t>(count_with_bit(recipe.ranks, bit) & 1);
  }
  return recipe;
}

}  // namespace berth::pattern
