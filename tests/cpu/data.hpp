// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <unistd.h>

#include <berth/types.hpp>
#include <sys/mman.h>

/// Inputs whose reduction is exact in every order, and their results.
namespace berth::cpu::test {

inline constexpr Type all_types[] = {Type::int32,   Type::int64,   Type::float32, Type::float64,
                                     Type::int8,    Type::uint8,   Type::uint32,  Type::uint64,
                                     Type::float16, Type::bfloat16};
inline constexpr Op all_ops[] = {Op::sum, Op::prod, Op::min, Op::max, Op::avg};

inline bool is_unsigned(Type type) {
  return type == Type::uint8 || type == Type::uint32 || type == Type::uint64;
}
inline bool is_float(Type type) {
  return type == Type::float16 || type == Type::bfloat16 || type == Type::float32 ||
         type == Type::float64;
}

/// Values of small types reach their ends, so that sums wrap; those of 16-bit floats are exact, but
/// their sums have to be rounded.
inline std::int64_t reach(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
      return 128;
    case Type::float16:
    case Type::bfloat16:
      return 201;
    default:
      return 10001;
  }
}

/// Element `index` of `rank`'s input, a value of the type. Float sums of 33 ranks stay below 2^24;
/// products are powers of two with small exponents and signs.
inline std::int64_t input(int rank, std::size_t index, Type type, Op op, std::uint64_t salt) {
  std::uint64_t x = index * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(rank) * 7919 + salt;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 32;
  if (op == Op::prod) {
    std::int64_t const sign = x / 8 % 2 == 0 || is_unsigned(type) ? 1 : -1;
    return (x % 8 == 0 ? 2 : 1) * sign;
  }
  auto const span = static_cast<std::uint64_t>(2 * reach(type));
  auto const value = static_cast<std::int64_t>(x % span);
  return is_unsigned(type) ? value : std::max(value - reach(type), 1 - reach(type));
}

/// The nearest value with `digits` binary digits, ties to even, as float16 and bfloat16 have it in
/// their normal range.
inline double rounded(double value, int digits) {
  if (value == 0.0) return value;
  int exponent = 0;
  double const fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

inline std::uint16_t bits_of_float16(double value) {
  double const x = rounded(value, 11);
  auto const sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (x == 0.0) return sign;
  int exponent = 0;
  double const fraction = std::frexp(std::fabs(x), &exponent);
  auto const digits = static_cast<int>(std::ldexp(fraction, 11));  // 1024 to 2047
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | (digits - 1024));
}

/// Stores a value; integers wrap.
inline void put(std::byte* at, Type type, double value) {
  auto const store = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  auto const whole = static_cast<std::int64_t>(value);
  switch (type) {
    case Type::int8:
    case Type::uint8:
      return store(static_cast<std::uint8_t>(whole));
    case Type::int32:
    case Type::uint32:
      return store(static_cast<std::uint32_t>(whole));
    case Type::int64:
    case Type::uint64:
      return store(whole);
    case Type::float16:
      return store(bits_of_float16(value));
    case Type::bfloat16:
      return store(static_cast<std::uint16_t>(
          std::bit_cast<std::uint32_t>(static_cast<float>(rounded(value, 8))) >> 16));
    case Type::float32:
      return store(static_cast<float>(value));
    case Type::float64:
      return store(value);
  }
}

/// A sum as the type holds it, divided as the type does it.
inline double average(std::int64_t sum, Type type, int ranks) {
  switch (type) {
    case Type::int8:
      return static_cast<std::int8_t>(sum) / ranks;
    case Type::uint8:
      return static_cast<std::uint8_t>(sum) / ranks;
    case Type::float64:
      return static_cast<double>(sum) / ranks;
    case Type::float16:
    case Type::bfloat16:
    case Type::float32:
      return static_cast<float>(sum) / static_cast<float>(ranks);
    default:
      return static_cast<double>(sum / ranks);
  }
}

inline double expected(int ranks, std::size_t index, Type type, Op op, std::uint64_t salt) {
  std::int64_t result = input(0, index, type, op, salt);
  for (int rank = 1; rank < ranks; ++rank) {
    std::int64_t const x = input(rank, index, type, op, salt);
    switch (op) {
      case Op::sum:
      case Op::avg:
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
  return op == Op::avg ? average(result, type, ranks) : static_cast<double>(result);
}

/// Bytes that start `shift` bytes behind an aligned address, with guards at both ends; or that end
/// where memory ends.
class Bytes {
 public:
  enum class End { guarded, unmapped };
  Bytes(std::size_t bytes, std::size_t shift, End end = End::guarded) : bytes_(bytes) {
    if (end == End::guarded) {
      memory_.resize(bytes + 256, guard);
      data_ = memory_.data() + 64 + shift;
      return;
    }
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_bytes_ = (bytes + page - 1) / page * page + page;
    mapped_ =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) std::abort();
    auto* const last = static_cast<std::byte*>(mapped_) + mapped_bytes_ - page;
    if (mprotect(last, page, PROT_NONE) != 0) std::abort();
    data_ = last - bytes;
  }
  ~Bytes() {
    if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
  }
  Bytes(Bytes const&) = delete;
  Bytes& operator=(Bytes const&) = delete;
  [[nodiscard]] std::byte* data() { return data_; }
  /// True when nothing was written beside the bytes.
  [[nodiscard]] bool is_guarded() const {
    auto const is_untouched = [](std::byte x) { return x == guard; };
    if (mapped_ != nullptr) return true;
    std::byte const* const begin = memory_.data();
    return std::all_of(begin, static_cast<std::byte const*>(data_), is_untouched) &&
           std::all_of(static_cast<std::byte const*>(data_) + bytes_, begin + memory_.size(),
                       is_untouched);
  }

 private:
  static constexpr std::byte guard{0xa5};
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

/// `count` elements of a rank's input, from `first` on.
inline void fill(std::byte* data, std::size_t count, Type type, Op op, int rank, std::uint64_t salt,
                 std::size_t first = 0) {
  for (std::size_t i = 0; i < count; ++i) {
    put(data + i * size_of(type), type,
        static_cast<double>(input(rank, first + i, type, op, salt)));
  }
}

/// What every rank must hold afterwards, from element `first` on.
inline std::vector<std::byte> reference(std::size_t count, Type type, Op op, int ranks,
                                        std::uint64_t salt, std::size_t first = 0) {
  std::vector<std::byte> result(count * size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    put(result.data() + i * size_of(type), type, expected(ranks, first + i, type, op, salt));
  }
  return result;
}

}  // namespace berth::cpu::test
