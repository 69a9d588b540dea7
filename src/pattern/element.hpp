// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <berth/types.hpp>

/// What the pattern needs to know of an element type; private to the room.
namespace berth::pattern {

template <class E>
inline constexpr bool is_half = std::is_same_v<E, float16> || std::is_same_v<E, bfloat16>;

/// What an element is computed in: 16-bit floats in float.
template <class E>
using Value = std::conditional_t<is_half<E>, float, E>;

/// Rounds to nearest, ties to even. Finite values that do not overflow, as all of the pattern's.
inline bfloat16 to_bfloat16(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}

/// As above; for zero and for numbers of at least 2^-14, as all of the pattern's.
inline float16 to_float16(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  auto const sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  std::uint32_t const magnitude = bits & 0x7fffffffu;
  if (magnitude == 0) return {sign};
  // The exponent's bias goes from 127 to 15, the fraction from 23 bits to 10.
  std::uint32_t const rebiased = magnitude - ((127u - 15u) << 23);
  std::uint32_t const rounded = (rebiased + 0xfffu + (rebiased >> 13 & 1)) >> 13;
  return {static_cast<std::uint16_t>(sign | rounded)};
}

/// The element that a value is stored as.
template <class E>
inline E stored(Value<E> value) {
  if constexpr (std::is_same_v<E, float16>) {
    return to_float16(value);
  } else if constexpr (std::is_same_v<E, bfloat16>) {
    return to_bfloat16(value);
  } else {
    return value;
  }
}

/// Bits of the largest binade in which every integer is exact: those of the fraction.
template <class E>
inline constexpr int exact_bits = std::is_same_v<E, bfloat16>  ? 7
                                  : std::is_same_v<E, float16> ? 10
                                  : std::is_same_v<E, float>   ? 22
                                  : std::is_same_v<E, double>  ? 51
                                                              : 8 * static_cast<int>(sizeof(E)) - 2;

/// Bits of the hash that a value of min or max takes: it and a digit must be exact.
template <class E>
inline constexpr int order_bits = sizeof(E) == 1 || std::is_same_v<E, bfloat16> ? 6
                                  : std::is_same_v<E, float16>                  ? 10
                                                                                : 16;

}  // namespace berth::pattern
