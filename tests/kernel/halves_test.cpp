// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// 16-bit floats on their way to float32 and back.
#include <cstring>

#include <gtest/gtest.h>

#include <kernel/column.hpp>
#include <kernel/reference.hpp>

namespace berth::test {
namespace {

constexpr std::size_t all = 1 << 16;

template <class T>
class Halves : public testing::Test {
 protected:
  static constexpr auto type = static_cast<std::size_t>(type_of<T>::value);

  Halves() {
    for (std::size_t i = 0; i < all; ++i) every_.push_back(of_bits<T>(i));
  }
  /// The floats between every two neighbours, and those next to them.
  std::vector<float> boundaries() const {
    std::vector<float> list;
    for (T const half : every_) {
      float const value = widen(half);
      float const next = widen(of_bits<T>(static_cast<std::uint64_t>(half.bits) + 1));
      if (!std::isfinite(value)) continue;
      float const middle = std::isfinite(next)
                               ? static_cast<float>((static_cast<double>(value) + next) / 2)
                               : std::nextafter(value, std::copysign(INFINITY, value));
      float const up = std::nextafter(middle, INFINITY);
      float const down = std::nextafter(middle, -INFINITY);
      list.insert(list.end(), {value, middle, up, down});
    }
    Numbers numbers;
    for (int i = 0; i < 300000; ++i) list.push_back(of_bits<float>(numbers.next()));
    for (std::uint64_t const power : {0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000}) {
      list.push_back(of_bits<float>(power));  // where float16 ends
    }
    return list;
  }

  std::vector<T> every_;
};
using Formats = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(Halves, Formats);

TYPED_TEST(Halves, AllAreWidenedExactly) {
  for (kernel::Kernels const* set : sets()) {
    for (int op = 0; op < op_count; ++op) {
      std::vector<float> wide(all);
      void const* const source = this->every_.data();
      set->reduce_wide[this->type][op](wide.data(), &source, 1, all);
      for (std::size_t i = 0; i < all; ++i) {
        ASSERT_EQ(bits(wide[i]), bits(one_nan(widen(this->every_[i])))) << set->name << ' ' << i;
      }
    }
  }
}

TYPED_TEST(Halves, FloatsAreRoundedToTheNearestAndTiesToTheEvenOne) {
  using T = TypeParam;
  std::vector<float> const floats = this->boundaries();
  std::vector<T> right;
  for (float const value : floats) right.push_back(encode<T>(value));
  for (kernel::Kernels const* set : sets()) {
    std::vector<T> out(floats.size());
    set->finish[this->type](out.data(), floats.data(), floats.size(), 1);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(out[i].bits, right[i].bits) << set->name << std::hex << ' ' << bits(floats[i]);
    }
  }
}

TYPED_TEST(Halves, ThereAndBackIsWhereItBegan) {
  for (kernel::Kernels const* set : sets()) {
    std::vector<float> wide(all);
    void const* const source = this->every_.data();
    set->reduce_wide[this->type][0](wide.data(), &source, 1, all);
    set->finish[this->type](wide.data(), wide.data(), all, 1);  // into its own first half
    for (std::size_t i = 0; i < all; ++i) {
      TypeParam half;
      std::memcpy(&half, reinterpret_cast<char const*>(wide.data()) + 2 * i, sizeof half);
      bool const nan = std::isnan(decode(this->every_[i]));
      ASSERT_EQ(half.bits, nan ? Patterns<TypeParam>::nan : i) << set->name;
    }
  }
}

TYPED_TEST(Halves, OnesOver300InputsGive300) {
  for (kernel::Kernels const* set : sets()) {
    std::vector<TypeParam> const ones(300, number<TypeParam>(1));
    EXPECT_EQ(decode(reduce_column(*set, Op::sum, ones)), 300) << set->name;
    EXPECT_EQ(decode(reduce_column_wide(*set, Op::sum, ones)), 300) << set->name;
    EXPECT_EQ(decode(reduce_column(*set, Op::avg, ones)), 1) << set->name;
  }
}

TYPED_TEST(Halves, AreRoundedOnceHoweverManyInputs) {
  using T = TypeParam;
  Numbers numbers;
  for (std::size_t inputs = 2; inputs < 40; ++inputs) {
    std::vector<T> column;
    for (std::size_t i = 0; i < inputs; ++i) column.push_back(numbers.element<T>());
    for (kernel::Kernels const* set : sets()) {
      for (Op const op : {Op::sum, Op::prod, Op::min, Op::max, Op::avg}) {
        T const right = reduced(op, column);
        EXPECT_EQ(reduce_column(*set, op, column).bits, right.bits) << set->name;
        EXPECT_EQ(reduce_column_wide(*set, op, column).bits, right.bits) << set->name;
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
