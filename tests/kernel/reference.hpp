// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <berth/types.hpp>
#include <kernel/reduce.hpp>

/// The kernels said plainly, one element at a time, in 64 bits where 64 bits are enough.
namespace berth::test {

/// Whether T is a 16-bit float.
template <class T>
constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
/// Whether T is a float of any size.
template <class T>
constexpr bool is_float = is_half<T> || std::is_floating_point_v<T>;
/// What T is reduced in.
template <class T>
using Lane = std::conditional_t<is_half<T>, float, T>;

/// The bits of an element.
template <class T>
auto bits(T value) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<std::uint8_t>(value);
  if constexpr (sizeof(T) == 2) return std::bit_cast<std::uint16_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
}

/// What tells one float format from another.
template <class T>
struct Format;
/// float16
template <>
struct Format<float16> {
  static constexpr int fraction = 10, least = -14, most = 15;
};
/// bfloat16
template <>
struct Format<bfloat16> {
  static constexpr int fraction = 7, least = -126, most = 127;
};
/// float32
template <>
struct Format<float> {
  static constexpr int fraction = 23, least = -126, most = 127;
};
/// float64
template <>
struct Format<double> {
  static constexpr int fraction = 52, least = -1022, most = 1023;
};

/// The number that 16 bits stand for, by the definition of the format.
template <class T>
double decode(T half) {
  using F = Format<T>;
  int const exponent = (half.bits & 0x7fff) >> F::fraction;
  int const fraction = half.bits & ((1 << F::fraction) - 1);
  double value = 0;
  if (exponent == F::most - F::least + 2) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, F::least - F::fraction);
  } else {
    value = std::ldexp((1 << F::fraction) + fraction, exponent - 1 + F::least - F::fraction);
  }
  return (half.bits & 0x8000) != 0 ? -value : value;
}

/// The nearest number of the format, the even one of two; a NaN becomes the one NaN.
template <class T>
T encode(double value) {
  using F = Format<T>;
  constexpr int infinity = (F::most - F::least + 2) << F::fraction;
  int const sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return {infinity | 1 << (F::fraction - 1)};
  int exponent = F::least;
  if (value != 0 && !std::isinf(value)) exponent = std::max(F::least, std::ilogb(value));
  if (std::isinf(value) || exponent > F::most) {
    return {static_cast<std::uint16_t>(sign | infinity)};
  }
  // In units of the last place; a carry into the next exponent is right as it stands.
  auto const units =
      static_cast<int>(std::nearbyint(std::ldexp(std::fabs(value), F::fraction - exponent)));
  int const number = units + ((exponent - F::least) << F::fraction);
  return {static_cast<std::uint16_t>(sign | std::min(number, infinity))};
}

/// The element as it is reduced.
template <class T>
Lane<T> widen(T x) {
  if constexpr (is_half<T>) {
    return static_cast<float>(decode(x));
  } else {
    return x;
  }
}

/// The one NaN for any NaN.
template <class T>
T one_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

/// The element that a reduced lane becomes.
template <class T>
T narrow(Lane<T> value) {
  if constexpr (is_half<T>) {
    return encode<T>(value);
  } else {
    return one_nan(value);
  }
}

/// min of two numbers, −0 before +0; `max` turns the order round.
template <class T>
T lesser(T a, T b, bool max) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) != max ? a : b;
  }
  return (a < b) != max ? a : b;
}

/// a op b. Sums and products of float32 are made in float64, which holds them exactly or rounds
/// them so far behind that rounding once more changes nothing.
template <class T>
T apply(Op op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    double const x = a;
    double const y = b;
    if (op == Op::sum || op == Op::avg) return static_cast<T>(x + y);
    if (op == Op::prod) return static_cast<T>(x * y);
  } else {
    using Wrapping = std::make_unsigned_t<T>;
    auto const x = static_cast<std::uint64_t>(static_cast<Wrapping>(a));
    auto const y = static_cast<std::uint64_t>(static_cast<Wrapping>(b));
    if (op == Op::sum || op == Op::avg) return static_cast<T>(x + y);
    if (op == Op::prod) return static_cast<T>(x * y);
  }
  return lesser(a, b, op == Op::max);
}

/// A lane divided by a number of ranks.
template <class T>
T divided(T value, int ranks) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<double>(value) / static_cast<T>(ranks));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(value) / ranks);
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value) / static_cast<std::uint64_t>(ranks));
  }
}

/// A column of elements, not yet rounded to T.
template <class T>
Lane<T> gathered(Op op, std::vector<T> const& column) {
  Lane<T> value = widen(column[0]);
  for (std::size_t i = 1; i < column.size(); ++i) value = apply(op, value, widen(column[i]));
  return value;
}

/// What a column of elements gives; avg divides by their number.
template <class T>
T reduced(Op op, std::vector<T> const& column) {
  Lane<T> const value = gathered(op, column);
  if (op == Op::avg) return narrow<T>(divided(value, static_cast<int>(column.size())));
  return column.size() == 1 ? column[0] : narrow<T>(value);
}

/// The sets that this processor can run.
inline std::vector<kernel::Kernels const*> sets() {
  std::vector<kernel::Kernels const*> found;
  for (char const* name : {"baseline", "avx2", "avx512", "neon"}) {
    if (auto const* set = kernel::find(name)) found.push_back(set);
  }
  return found;
}

/// An element near a small number, or what an integer wraps it to.
template <class T>
T number(double value) {
  if constexpr (is_half<T>) {
    return encode<T>(value);
  } else if constexpr (is_float<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<std::int64_t>(value));
  }
}

/// An element with these bits.
template <class T>
T of_bits(std::uint64_t pattern) {
  using U = decltype(bits(T{}));
  return std::bit_cast<T>(static_cast<U>(pattern));
}

/// Bit patterns of a float format.
template <class T>
struct Patterns {
  static constexpr int width = 8 * sizeof(T);
  static constexpr int fraction = Format<T>::fraction;
  static constexpr std::uint64_t sign = std::uint64_t{1} << (width - 1);
  static constexpr std::uint64_t infinity = sign - (std::uint64_t{1} << fraction);
  static constexpr std::uint64_t nan = infinity | std::uint64_t{1} << (fraction - 1);
  static constexpr std::uint64_t largest = infinity - 1;
  static constexpr std::uint64_t least_normal = std::uint64_t{1} << fraction;
};

/// Numbers of a type that go wrong first.
template <class T>
std::vector<T> awkward() {
  std::vector<T> list;
  if constexpr (is_float<T>) {
    using P = Patterns<T>;
    for (std::uint64_t const pattern :
         {std::uint64_t{0}, P::infinity, P::largest, std::uint64_t{1}, P::least_normal,
          P::least_normal - 1, P::nan, P::nan | 3, P::infinity | 1}) {
      list.push_back(of_bits<T>(pattern));
      list.push_back(of_bits<T>(pattern | P::sign));
    }
    list.push_back(number<T>(-1.5));
  } else {
    using Limits = std::numeric_limits<T>;
    list = {T(0),  T(1), static_cast<T>(-1), Limits::min(), Limits::max(), T(Limits::min() + 1),
            T(123)};
  }
  return list;
}

/// A small generator with the same numbers on every machine.
class Numbers {
 public:
  /// The next 64 bits (splitmix64).
  std::uint64_t next() {
    std::uint64_t x = (state_ += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  /// An element: mostly ordinary, one in 64 awkward, one in 64 any bits at all.
  template <class T>
  T element() {
    static std::vector<T> const special = awkward<T>();
    std::uint64_t const x = next();
    if (x % 64 == 0) return special[(x >> 8) % special.size()];
    if (x % 64 == 1) return of_bits<T>(next());
    if constexpr (is_float<T>) {
      return number<T>(static_cast<double>(static_cast<std::int64_t>(x) >> 32) /
                       (sizeof(T) == 2 ? 1 << 28 : 1 << 20));
    } else {
      return static_cast<T>(x >> 7);
    }
  }

 private:
  std::uint64_t state_ = 2;
};

}  // namespace berth::test
