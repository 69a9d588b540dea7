// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <berth/types.hpp>

/// Inputs whose reduction is exact in every type and every order, and their results.
namespace berth::cpu::test {

inline constexpr Type all_types[] = {Type::int32, Type::int64, Type::float32, Type::float64};
inline constexpr Op all_ops[] = {Op::sum, Op::prod, Op::min, Op::max};

/// Element `index` of `rank`'s input. Sums of 33 ranks stay below 2^24; products are powers of two
/// with small exponents and signs.
inline double input(int rank, std::size_t index, Op op, std::uint64_t salt) {
  std::uint64_t x = index * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(rank) * 7919 + salt;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 32;
  if (op == Op::prod) return (x % 8 == 0 ? 2.0 : 1.0) * (x / 8 % 2 == 0 ? 1.0 : -1.0);
  return static_cast<double>(x % 20001) - 10000.0;
}

inline double expected(int ranks, std::size_t index, Op op, std::uint64_t salt) {
  double result = input(0, index, op, salt);
  for (int rank = 1; rank < ranks; ++rank) {
    double const x = input(rank, index, op, salt);
    switch (op) {
      case Op::sum:
        result += x;
        break;
      case Op::prod:
        result *= x;
        break;
      case Op::min:
        result = std::min(result, x);
        break;
      case Op::max:
        result = std::max(result, x);
        break;
    }
  }
  return result;
}

inline void put(std::byte* at, Type type, double value) {
  auto const store = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (type) {
    case Type::int32:
      return store(static_cast<std::int32_t>(value));
    case Type::int64:
      return store(static_cast<std::int64_t>(value));
    case Type::float32:
      return store(static_cast<float>(value));
    case Type::float64:
      return store(value);
  }
}

/// Bytes that start `shift` bytes behind an aligned address, with guards at both ends.
class Bytes {
 public:
  Bytes(std::size_t bytes, std::size_t shift)
      : memory_(bytes + 256, std::byte{0xa5}), begin_(64 + shift), bytes_(bytes) {}
  [[nodiscard]] std::byte* data() { return memory_.data() + begin_; }
  /// True when nothing was written beside the bytes.
  [[nodiscard]] bool is_guarded() const {
    auto const is_untouched = [](std::byte x) { return x == std::byte{0xa5}; };
    auto const end = memory_.begin() + static_cast<std::ptrdiff_t>(begin_ + bytes_);
    return std::all_of(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(begin_),
                       is_untouched) &&
           std::all_of(end, memory_.end(), is_untouched);
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t begin_;
  std::size_t bytes_;
};

inline void fill(std::byte* data, std::size_t count, Type type, Op op, int rank,
                 std::uint64_t salt) {
  for (std::size_t i = 0; i < count; ++i) {
    put(data + i * size_of(type), type, input(rank, i, op, salt));
  }
}

/// What every rank must hold afterwards.
inline std::vector<std::byte> reference(std::size_t count, Type type, Op op, int ranks,
                                        std::uint64_t salt) {
  std::vector<std::byte> result(count * size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    put(result.data() + i * size_of(type), type, expected(ranks, i, op, salt));
  }
  return result;
}

}  // namespace berth::cpu::test
