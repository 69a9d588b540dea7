// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// NaN, -0, infinities, subnormals, overflow and ties of every float format: a table with the
// results written down, which are checked against the 64-bit reference, too.
#include <gtest/gtest.h>

#include <kernel/column.hpp>
#include <kernel/reference.hpp>

namespace berth::test {
namespace {

template <class T>
class FloatEdges : public testing::Test {};
using Floats = testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(FloatEdges, Floats);

/// One line of the table; inputs and result are bit patterns.
struct Row {
  char const* what;
  Op op;
  std::vector<std::uint64_t> inputs;
  std::uint64_t result;
};

template <class T>
std::uint64_t pattern(double value) {
  return bits(number<T>(value));
}

/// Rows about what is no ordinary number.
template <class T>
std::vector<Row> special_rows() {
  using P = Patterns<T>;
  std::uint64_t const sign = P::sign, inf = P::infinity, nan = P::nan, largest = P::largest;
  std::uint64_t const one = pattern<T>(1), minus = pattern<T>(-1), zero = 0, least = 1;
  return {
      {"NaN + 1", Op::sum, {nan, one}, nan},
      {"1 + -NaN", Op::sum, {one, nan | sign}, nan},
      {"signalling + 1", Op::sum, {inf | 1, one}, nan},
      {"payloads", Op::sum, {nan | 1, nan | 2 | sign}, nan},
      {"inf + 1", Op::sum, {inf, one}, inf},
      {"-inf + largest", Op::sum, {inf | sign, largest}, inf | sign},
      {"inf - inf", Op::sum, {inf, inf | sign}, nan},
      {"inf + inf", Op::sum, {inf, inf}, inf},
      {"0 + -0", Op::sum, {zero, sign}, zero},
      {"-0 + -0", Op::sum, {sign, sign}, sign},
      {"1 - 1", Op::sum, {one, minus}, zero},
      {"0 * inf", Op::prod, {zero, inf}, nan},
      {"-0 * 1", Op::prod, {sign, one}, sign},
      {"-0 * -1", Op::prod, {sign, minus}, zero},
      {"-1 * inf", Op::prod, {minus, inf}, inf | sign},
      {"NaN * 0", Op::prod, {nan, zero}, nan},
      {"min NaN -inf", Op::min, {nan, inf | sign}, nan},
      {"min -inf NaN", Op::min, {inf | sign, nan | sign}, nan},
      {"max inf NaN", Op::max, {inf, nan}, nan},
      {"max signalling 1", Op::max, {inf | 1, one}, nan},
      {"max 1 -signalling 1", Op::max, {one, inf | 1 | sign, one}, nan},
      {"min 0 -0", Op::min, {zero, sign}, sign},
      {"min -0 0", Op::min, {sign, zero}, sign},
      {"max 0 -0", Op::max, {zero, sign}, zero},
      {"max -0 0", Op::max, {sign, zero}, zero},
      {"max -0 -0", Op::max, {sign, sign}, sign},
      {"min inf largest", Op::min, {inf, largest}, largest},
      {"max -inf -largest", Op::max, {inf | sign, largest | sign}, largest | sign},
      {"min -least 0", Op::min, {least | sign, zero}, least | sign},
      {"max -least -1", Op::max, {least | sign, minus}, least | sign},
      {"avg NaN 1", Op::avg, {nan, one}, nan},
      {"avg inf -inf", Op::avg, {inf, inf | sign}, nan},
      {"avg inf 1", Op::avg, {inf, one}, inf},
      {"avg -0 -0", Op::avg, {sign, sign}, sign},
  };
}

/// Rows about the ends of the range and about rounding. Only float16 has a wider format that holds
/// what it cannot; both 16-bit formats have one that keeps more digits.
template <class T>
std::vector<Row> rounding_rows() {
  using P = Patterns<T>;
  using F = Format<T>;
  std::uint64_t const sign = P::sign, inf = P::infinity, largest = P::largest;
  std::uint64_t const one = pattern<T>(1), two = pattern<T>(2), half = pattern<T>(0.5);
  std::uint64_t const zero = 0, least = 1, normal = P::least_normal;
  bool const room = std::is_same_v<T, float16>;
  std::uint64_t const half_place = pattern<T>(std::ldexp(1, -F::fraction - 1));
  std::uint64_t const three_halves = pattern<T>(std::ldexp(3, -F::fraction - 1));
  std::uint64_t const top_half = pattern<T>(std::ldexp(1, F::most - F::fraction - 1));
  std::uint64_t const top_quarter = pattern<T>(std::ldexp(1, F::most - F::fraction - 2));
  return {
      {"largest + largest", Op::sum, {largest, largest}, inf},
      {"-largest - largest", Op::sum, {largest | sign, largest | sign}, inf | sign},
      {"there and back", Op::sum, {largest, largest, largest | sign}, room ? largest : inf},
      {"largest + half a place", Op::sum, {largest, top_half}, inf},
      {"largest + a quarter", Op::sum, {largest, top_quarter}, largest},
      {"largest * 2", Op::prod, {largest, two}, inf},
      {"largest * 2 / 2", Op::prod, {largest, two, half}, room ? largest : inf},
      {"least + least", Op::sum, {least, least}, 2},
      {"least - least", Op::sum, {least, least | sign}, zero},
      {"normal - least", Op::sum, {normal, least | sign}, normal - 1},
      {"subnormal + least", Op::sum, {normal - 1, least}, normal},
      {"1 + least", Op::sum, {one, least}, one},
      {"least / 2, tie to even", Op::prod, {least, half}, zero},
      {"-least / 2", Op::prod, {least | sign, half}, sign},
      {"3 least / 2, tie to even", Op::prod, {3, half}, 2},
      {"normal / 2", Op::prod, {normal, half}, normal / 2},
      {"subnormal * 2", Op::prod, {normal / 2, two}, normal},
      {"least * least", Op::prod, {least, least}, zero},
      {"1 + half a place", Op::sum, {one, half_place}, one},
      {"1 + three halves", Op::sum, {one, three_halves}, one + 2},
      {"two halves of a place", Op::sum, {one, half_place, half_place}, one + (is_half<T> ? 1 : 0)},
      {"min of subnormals", Op::min, {2, least, 3}, least},
      {"max of subnormals", Op::max, {2, normal - 1, 3}, normal - 1},
      {"avg of largest", Op::avg, {largest, largest}, room ? largest : inf},
      {"avg of least and 0", Op::avg, {least, zero}, zero},
      {"avg of 3 least and 0", Op::avg, {3, zero}, 2},
      {"avg of -3 and 0", Op::avg, {pattern<T>(-3), zero}, pattern<T>(-1.5)},
      {"avg of 1, 0, 0", Op::avg, {one, zero, zero}, pattern<T>(1.0 / 3)},
  };
}

template <class T>
void check(std::vector<Row> const& rows) {
  for (Row const& row : rows) {
    std::vector<T> column;
    for (std::uint64_t const input : row.inputs) column.push_back(of_bits<T>(input));
    EXPECT_EQ(bits(reduced(row.op, column)), row.result) << row.what;
    for (kernel::Kernels const* set : sets()) {
      EXPECT_EQ(bits(reduce_column(*set, row.op, column)), row.result)
          << set->name << ' ' << row.what;
      EXPECT_EQ(bits(reduce_column_wide(*set, row.op, column)), row.result)
          << set->name << ", wide, " << row.what;
    }
  }
}

TYPED_TEST(FloatEdges, SpecialNumbersGiveWhatTheTableSays) {
  check<TypeParam>(special_rows<TypeParam>());
}

TYPED_TEST(FloatEdges, RoundingAndTheEndsOfTheRangeGiveWhatTheTableSays) {
  check<TypeParam>(rounding_rows<TypeParam>());
}

TYPED_TEST(FloatEdges, EveryPairOfAwkwardNumbersHasTheBitsOfTheReference) {
  using T = TypeParam;
  std::vector<T> const numbers = awkward<T>();
  for (kernel::Kernels const* set : sets()) {
    for (T const a : numbers) {
      for (T const b : numbers) {
        for (Op const op : {Op::sum, Op::prod, Op::min, Op::max, Op::avg}) {
          std::vector<T> const column{a, b};
          ASSERT_EQ(bits(reduce_column(*set, op, column)), bits(reduced(op, column)))
              << set->name << ", op " << static_cast<int>(op) << ", " << std::hex << +bits(a) << ' '
              << +bits(b);
        }
      }
    }
  }
}

TYPED_TEST(FloatEdges, NanAtAnyRankGivesTheOneNan) {
  using T = TypeParam;
  using P = Patterns<T>;
  for (kernel::Kernels const* set : sets()) {
    for (Op const op : {Op::sum, Op::prod, Op::min, Op::max, Op::avg}) {
      for (std::size_t ranks = 2; ranks <= 6; ++ranks) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          for (std::uint64_t const nan : {P::nan, P::nan | P::sign, P::infinity | 1, P::nan | 5}) {
            std::vector<T> column(ranks, number<T>(-3));
            column[rank] = of_bits<T>(nan);
            EXPECT_EQ(bits(reduce_column(*set, op, column)), P::nan);
            column[(rank + 1) % ranks] = of_bits<T>(P::infinity);
            column[(rank + ranks - 1) % ranks] = of_bits<T>(nan);
            EXPECT_EQ(bits(reduce_column(*set, op, column)), P::nan);
          }
        }
      }
    }
  }
}

TYPED_TEST(FloatEdges, ALoneSourceIsCopiedWithItsPayload) {
  using T = TypeParam;
  T const odd = of_bits<T>(Patterns<T>::nan | 5 | Patterns<T>::sign);
  for (kernel::Kernels const* set : sets()) {
    for (Op const op : {Op::sum, Op::prod, Op::min, Op::max}) {
      EXPECT_EQ(bits(reduce_column<T>(*set, op, {odd})), bits(odd));
    }
  }
}

}  // namespace
}  // namespace berth::test
