// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <pattern/pattern.hpp>

/// Reductions of coded data by hand.
namespace berth::test {

using pattern::Code;

/// The unsigned integer of the size of T.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// a op b; integers wrap.
template <class T>
T apply(Op op, T a, T b) {
  if (op == Op::min) return std::min(a, b);
  if (op == Op::max) return std::max(a, b);
  if constexpr (std::is_integral_v<T>) {
    auto const x = static_cast<Bits<T>>(a);
    auto const y = static_cast<Bits<T>>(b);
    return static_cast<T>(op == Op::sum ? x + y : x * y);
  } else {
    return op == Op::sum ? a + b : a * b;
  }
}

/// Contribution of a rank.
template <class T>
std::vector<T> contribution(Code const& code, int rank, std::size_t first, std::size_t count) {
  std::vector<T> data(count);
  pattern::fill(code, rank, data.data(), first, count);
  return data;
}

/// Contributions of all ranks.
template <class T>
std::vector<std::vector<T>> contributions(Code const& code, std::size_t first, std::size_t count) {
  std::vector<std::vector<T>> all;
  all.reserve(static_cast<std::size_t>(code.ranks) + 1);
  for (int r = 0; r < code.ranks; ++r) all.push_back(contribution<T>(code, r, first, count));
  return all;
}

/// Reduces in the order of the ranks.
template <class T>
std::vector<T> reduce(Op op, std::vector<std::vector<T>> const& all) {
  std::vector<T> out = all[0];
  for (std::size_t r = 1; r < all.size(); ++r) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = apply(op, out[i], all[r][i]);
  }
  return out;
}

/// Elements of the reduction of `all` that a check finds wrong.
template <class T>
std::size_t wrong_elements(Code const& code, std::vector<std::vector<T>> const& all) {
  auto const out = reduce(code.op, all);
  return pattern::check_reduced(code, out.data(), 0, out.size()).wrong;
}

/// Whether the bits are the same, of NaNs and zeros too.
inline bool same_bytes(void const* a, void const* b, std::size_t bytes) {
  return std::memcmp(a, b, bytes) == 0;
}

/// Calls f(T{}, code) for every type and op.
template <class F>
void for_every_code(int ranks, std::uint32_t round, F f) {
  for (Op const op : {Op::sum, Op::prod, Op::min, Op::max}) {
    f(std::int32_t{}, Code{Type::int32, op, ranks, round});
    f(std::int64_t{}, Code{Type::int64, op, ranks, round});
    f(float{}, Code{Type::float32, op, ranks, round});
    f(double{}, Code{Type::float64, op, ranks, round});
  }
}

/// Names a code in a failure.
inline std::string describe(Code const& code) {
  return "type " + std::to_string(static_cast<int>(code.type)) + ", op " +
         std::to_string(static_cast<int>(code.op)) + ", ranks " + std::to_string(code.ranks) +
         ", round " + std::to_string(code.round);
}

}  // namespace berth::test
