// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <berth/types.hpp>
#include <kernel/reduce.hpp>

/// The kernels said plainly, one element at a time.
namespace berth::test {

/// The bits of an element.
template <class T>
auto bits(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(value);
}

/// min of two numbers, −0 before +0; `max` turns the order round.
template <class T>
T lesser(T a, T b, bool max) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) != max ? a : b;
  }
  return (a < b) != max ? a : b;
}

/// a op b.
template <class T>
T apply(Op op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (op == Op::sum) return a + b;
    if (op == Op::prod) return a * b;
  } else {
    using Wrapping = std::make_unsigned_t<T>;
    if (op == Op::sum) return static_cast<T>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
    if (op == Op::prod) return static_cast<T>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
  }
  return lesser(a, b, op == Op::max);
}

/// The result of one element over all sources; a NaN is the one NaN unless a lone source is copied.
template <class T>
T reduced(Op op, std::span<T const> column) {
  T value = column[0];
  for (T const x : column.subspan(1)) value = apply(op, value, x);
  if constexpr (std::is_floating_point_v<T>) {
    if (column.size() > 1 && std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

/// The sets that this processor can run.
inline std::vector<kernel::Kernels const*> sets() {
  std::vector<kernel::Kernels const*> found;
  for (char const* name : {"baseline", "avx2", "avx512"}) {
    if (auto const* set = kernel::find(name)) found.push_back(set);
  }
  return found;
}

/// Numbers of a type that go wrong first.
template <class T>
std::vector<T> awkward() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return {T(0),
            -T(0),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::max(),
            Limits::lowest(),
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Limits::min(),
            T(1),
            Limits::quiet_NaN(),
            -Limits::quiet_NaN(),
            T(-1.5)};
  } else {
    return {T(0), T(1), T(-1), Limits::min(), Limits::max(), T(Limits::min() + 1), T(12345)};
  }
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
  /// An element: mostly ordinary, one in sixteen awkward.
  template <class T>
  T element() {
    static std::vector<T> const special = awkward<T>();
    std::uint64_t const x = next();
    if (x % 16 == 0) return special[(x >> 8) % special.size()];
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(static_cast<std::int64_t>(x) >> 32) / T(1 << 20);
    } else {
      return static_cast<T>(x >> 7);
    }
  }

 private:
  std::uint64_t state_ = 2;
};

}  // namespace berth::test
