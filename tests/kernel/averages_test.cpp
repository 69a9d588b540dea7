// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// Averages: what is divided, by what, and where the result goes.
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include <kernel/column.hpp>
#include <kernel/reference.hpp>

namespace berth::test {
namespace {

constexpr int divisors[] = {1,   2,   3,   5,   6,       7,     8,       9,       10,
                            31,  64,  97,  127, 128,     129,   254,     255,     256,
                            257, 300, 641, 999, 1 << 16, 65537, 1000003, 1 << 30, 2147483647};

template <class T>
class Averages : public testing::Test {
 protected:
  static constexpr auto type = static_cast<std::size_t>(type_of<T>::value);

  /// Numbers of every kind, and integers around the multiples of `divisor`.
  std::vector<Lane<T>> parts(int divisor) {
    std::vector<Lane<T>> list = awkward<Lane<T>>();
    for (int i = 0; i < 500; ++i) list.push_back(numbers_.element<Lane<T>>());
    if constexpr (!is_float<T>) {
      auto const step = static_cast<std::uint64_t>(divisor);
      for (int i = 0; i < 500; ++i) {
        std::uint64_t const multiple = (numbers_.next() >> (i % 64)) / step * step;
        for (std::uint64_t const near : {multiple, multiple - 1, multiple + 1}) {
          list.push_back(static_cast<T>(near));
          list.push_back(static_cast<T>(~near));
        }
      }
      for (int i = -300; i < 300; ++i) list.push_back(static_cast<T>(i));
    }
    return list;
  }

  Numbers numbers_;
};
using Elements = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t, float16, bfloat16, float, double>;
TYPED_TEST_SUITE(Averages, Elements);

TYPED_TEST(Averages, FinishDividesEveryNumberByEveryDivisorOnce) {
  using T = TypeParam;
  for (int const divisor : divisors) {
    std::vector<Lane<T>> const wide = this->parts(divisor);
    std::vector<T> right;
    for (Lane<T> const x : wide) {
      bool const copied = divisor == 1 && !is_half<T>;
      if constexpr (is_half<T>) {
        right.push_back(narrow<T>(divided(x, divisor)));
      } else {
        right.push_back(copied ? x : narrow<T>(divided(x, divisor)));
      }
    }
    for (kernel::Kernels const* set : sets()) {
      std::vector<T> out(wide.size());
      set->finish[this->type](out.data(), wide.data(), wide.size(), divisor);
      for (std::size_t i = 0; i < wide.size(); ++i) {
        ASSERT_EQ(bits(out[i]), bits(right[i])) << set->name << ' ' << divisor << ' ' << i;
      }
    }
  }
}

TYPED_TEST(Averages, FinishTakesAnyCountAndPlaceAndStaysInside) {
  using T = TypeParam;
  std::vector<Lane<T>> const parts = this->parts(3);
  alignas(64) unsigned char wide[2048];
  alignas(64) unsigned char out[2048];
  for (kernel::Kernels const* set : sets()) {
    for (std::size_t count = 0; count <= 130; ++count) {
      bool const in_place = count % 2 == 1;
      std::size_t const askew = count % 5;
      std::memset(wide, 0xa5, sizeof wide);
      std::memset(out, 0xa5, sizeof out);
      if (count > 0) std::memcpy(wide + 64 + askew, parts.data(), count * sizeof(Lane<T>));
      unsigned char* const to = (in_place ? wide : out) + 64 + askew;
      set->finish[this->type](to, wide + 64 + askew, count, 3);
      for (std::size_t i = 0; i < count; ++i) {
        T result;
        std::memcpy(&result, to + i * sizeof(T), sizeof result);
        ASSERT_EQ(bits(result), bits(narrow<T>(divided(parts[i], 3)))) << set->name << ' ' << count;
      }
      ASSERT_EQ(to[-1], 0xa5) << set->name;
      std::size_t const written = in_place ? sizeof(Lane<T>) : sizeof(T);
      ASSERT_EQ(to[count * written], 0xa5) << set->name << ' ' << count;
    }
  }
}

TEST(AveragesOfIntegers, AreTruncatedTowardsZeroAfterTheSumHasWrapped) {
  for (kernel::Kernels const* set : sets()) {
    EXPECT_EQ(reduce_column<std::int32_t>(*set, Op::avg, {-3, -4}), -3);
    EXPECT_EQ(reduce_column<std::int32_t>(*set, Op::avg, {-1, 0}), 0);
    EXPECT_EQ(reduce_column<std::int32_t>(*set, Op::avg, {3, 4}), 3);
    EXPECT_EQ(reduce_column<std::int64_t>(*set, Op::avg, {-5, -5, -1}), -3);
    EXPECT_EQ(reduce_column<std::int64_t>(*set, Op::avg, {INT64_MIN, 0}), INT64_MIN / 2);
    EXPECT_EQ(reduce_column<std::int8_t>(*set, Op::avg, {-7, 0}), -3);
    EXPECT_EQ(reduce_column<std::int8_t>(*set, Op::avg, {127, 1}), -64);
    EXPECT_EQ(reduce_column(*set, Op::avg, std::vector<std::int8_t>(300, -1)), 0);
    EXPECT_EQ(reduce_column<std::uint8_t>(*set, Op::avg, {255, 0}), 127);
    EXPECT_EQ(reduce_column<std::uint8_t>(*set, Op::avg, {200, 100}), 22);
    EXPECT_EQ(reduce_column<std::uint32_t>(*set, Op::avg, {UINT32_MAX, 0}), UINT32_MAX / 2);
    EXPECT_EQ(reduce_column<std::uint64_t>(*set, Op::avg, {UINT64_MAX, 0, 0}), UINT64_MAX / 3);
  }
}

TEST(AveragesOfBytes, AreRightForEveryNumberAndDivisor) {
  std::vector<std::int8_t> numbers;
  for (int i = 0; i < 256; ++i) numbers.push_back(static_cast<std::int8_t>(i));
  for (kernel::Kernels const* set : sets()) {
    for (int divisor = 1; divisor < 300; ++divisor) {
      std::vector<std::int8_t> with_sign(256);
      std::vector<std::uint8_t> without(256);
      set->finish[static_cast<int>(Type::int8)](with_sign.data(), numbers.data(), 256, divisor);
      set->finish[static_cast<int>(Type::uint8)](without.data(), numbers.data(), 256, divisor);
      for (int i = 0; i < 256; ++i) {
        auto const at = static_cast<std::size_t>(i);
        ASSERT_EQ(with_sign[at], numbers[at] / divisor) << set->name << ' ' << divisor;
        ASSERT_EQ(without[at], i / divisor) << set->name << ' ' << divisor;
      }
    }
  }
}

TEST(WideType, IsFloat32ForHalvesAndTheTypeItselfElse) {
  EXPECT_EQ(kernel::wide_type(Type::float16), Type::float32);
  EXPECT_EQ(kernel::wide_type(Type::bfloat16), Type::float32);
  for (Type const type : {Type::int8, Type::uint8, Type::int32, Type::uint32, Type::int64,
                          Type::uint64, Type::float32, Type::float64}) {
    EXPECT_EQ(kernel::wide_type(type), type);
  }
}

}  // namespace
}  // namespace berth::test
