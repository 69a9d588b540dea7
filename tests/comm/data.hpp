// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <berth/types.hpp>

/// Inputs whose reduction is known exactly, the reference that computes it, and buffers that notice
/// when somebody writes beside them.
namespace berth::test {

/// A buffer of `bytes` that begins `offset` bytes behind a 64-byte boundary, with guards before and
/// behind it.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t offset)
      : bytes_(bytes), store_(bytes + offset + 64 + 2 * guard, mark) {
    auto const address = reinterpret_cast<std::uintptr_t>(store_.data()) + guard;
    start_ = guard + (64 - address % 64) % 64 + offset;
  }
  /// The first byte. Owned by this object.
  [[nodiscard]] unsigned char* data() { return store_.data() + start_; }
  [[nodiscard]] unsigned char const* data() const { return store_.data() + start_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// True when nothing beside the buffer has changed.
  [[nodiscard]] bool intact() const {
    for (std::size_t i = 0; i < store_.size(); ++i) {
      if (i == start_) i += bytes_;
      if (i < store_.size() && store_[i] != mark) return false;
    }
    return true;
  }
  /// The element `index` of a buffer of T.
  template <class T>
  [[nodiscard]] T get(std::size_t index) const {
    T value;
    std::memcpy(&value, data() + index * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void set(std::size_t index, T value) {
    std::memcpy(data() + index * sizeof(T), &value, sizeof(T));
  }

 private:
  static constexpr std::size_t guard = 128;
  static constexpr unsigned char mark = 0xC5;
  std::size_t bytes_;
  std::vector<unsigned char> store_;
  std::size_t start_ = 0;
};

/// 64 well mixed bits of three numbers (splitmix64's finaliser).
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ULL + b * 0xd1b54a32d192ed03ULL + c + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// What `rank` contributes at `index`: any value for integers; for floating point small integers,
/// so that every order of summation gives the same, exact result for up to 8 ranks.
template <class T>
T input(int rank, std::size_t index, Op op, std::uint64_t seed) {
  std::uint64_t const bits = mix(static_cast<std::uint64_t>(rank), index, seed);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if (op == Op::prod) {
    constexpr T factors[] = {T(1), T(-1), T(2), T(3)};
    return factors[bits % 4];
  } else {
    return static_cast<T>(static_cast<int>(bits % 20001) - 10000);
  }
}

/// a op b as types.hpp promises it: integers wrap, any NaN wins min and max, -0 is below +0.
template <class T>
T combine(T a, T b, Op op) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (op == Op::sum) return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if (op == Op::prod) return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    return op == Op::min ? (b < a ? b : a) : (a < b ? b : a);
  } else {
    if (op == Op::sum) return a + b;
    if (op == Op::prod) return a * b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) {
      bool const negative =
          op == Op::min ? std::signbit(a) || std::signbit(b) : std::signbit(a) && std::signbit(b);
      return std::copysign(a, negative ? T(-1) : T(1));
    }
    return (op == Op::min) == (a < b) ? a : b;
  }
}

/// The result of all `size` ranks at `index`.
template <class T>
T expected(int size, std::size_t index, Op op, std::uint64_t seed) {
  T result = input<T>(0, index, op, seed);
  for (int rank = 1; rank < size; ++rank)
    result = combine(result, input<T>(rank, index, op, seed), op);
  return result;
}

/// Same bits; any NaN equals any other.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Hash of bytes, to compare results between ranks and runs.
inline std::uint64_t hash(unsigned char const* data, std::size_t bytes) {
  std::uint64_t state = bytes;
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, 8);
    state = mix(state, word);
  }
  for (; at < bytes; ++at) state = mix(state, data[at]);
  return state;
}

inline std::string text_of(Type type) {
  switch (type) {
    case Type::int8:
      return "int8";
    case Type::uint8:
      return "uint8";
    case Type::int32:
      return "int32";
    case Type::uint32:
      return "uint32";
    case Type::int64:
      return "int64";
    case Type::uint64:
      return "uint64";
    case Type::float16:
      return "float16";
    case Type::bfloat16:
      return "bfloat16";
    case Type::float32:
      return "float32";
    case Type::float64:
      return "float64";
  }
  return "unknown";
}
inline std::string text_of(Op op) {
  switch (op) {
    case Op::sum:
      return "sum";
    case Op::prod:
      return "prod";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::avg:
      return "avg";
  }
  return "unknown";
}

inline constexpr Type all_types[] = {Type::int32, Type::int64, Type::float32, Type::float64};
inline constexpr Op all_ops[] = {Op::sum, Op::prod, Op::min, Op::max};

/// Calls f(T{}) with the C++ type of `type`.
template <class F>
auto with_type(Type type, F&& f) {
  switch (type) {
    case Type::int32:
      return f(std::int32_t{});
    case Type::int64:
      return f(std::int64_t{});
    case Type::float32:
      return f(float{});
    default:
      return f(double{});
  }
}

}  // namespace berth::test
