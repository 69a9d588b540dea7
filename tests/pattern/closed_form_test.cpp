// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <pattern/brute.hpp>
#include <pattern/recipe.hpp>

namespace berth::test {
namespace {

TEST(ClosedForm, BitsAreCountedAsByHand) {
  for (int bit = 0; bit < 8; ++bit) {
    std::uint64_t by_hand = 0;
    for (std::uint64_t n = 0; n < 300; ++n) {
      EXPECT_EQ(pattern::count_with_bit(n, bit), by_hand) << n << ' ' << bit;
      by_hand += n >> bit & 1;
    }
  }
}

TEST(ClosedForm, EqualsTheReductionByHandInEitherOrder) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    for (std::size_t const first : {std::size_t{0}, std::size_t{3}, (std::size_t{1} << 32) - 20}) {
      for_every_code(ranks, 7, [first](auto element, Code const& code) {
        using T = decltype(element);
        auto all = contributions<T>(code, first, 60);
        auto const forward = reduce(code.op, all);
        EXPECT_EQ(pattern::check_reduced(code, forward.data(), first, 60).wrong, 0u)
            << describe(code) << ", first " << first;
        std::reverse(all.begin(), all.end());
        auto const backward = reduce(code.op, all);
        EXPECT_TRUE(same_bytes(forward.data(), backward.data(), 60 * sizeof(T))) << describe(code);
      });
    }
  }
}

TEST(ClosedForm, EqualsTheReductionByHandOfThousandsOfRanks) {
  for (int const ranks : {257, 4096, 10007, 100003}) {
    for_every_code(ranks, 2, [](auto element, Code const& code) {
      using T = decltype(element);
      constexpr std::size_t count = 11;
      T out[count];
      T next[count];
      pattern::fill(code, 0, out, 0, count);
      for (int r = 1; r < code.ranks; ++r) {
        pattern::fill(code, r, next, 0, count);
        for (std::size_t i = 0; i < count; ++i) out[i] = apply(code.op, out[i], next[i]);
      }
      EXPECT_EQ(pattern::check_reduced(code, out, 0, count).wrong, 0u) << describe(code);
    });
  }
}

TEST(Fill, PiecesAreTheWholeAndNothingElseIsTouched) {
  for_every_code(3, 1, [](auto element, Code const& code) {
    using T = decltype(element);
    auto const whole = contribution<T>(code, 1, 5, 100);
    for (std::size_t cut = 0; cut <= 100; ++cut) {
      std::vector<unsigned char> bytes(102 * sizeof(T), 0x5a);
      unsigned char* const at = bytes.data() + 1;  // no element is aligned
      pattern::fill(code, 1, at, 5, cut);
      pattern::fill(code, 1, at + cut * sizeof(T), 5 + cut, 100 - cut);
      EXPECT_TRUE(same_bytes(at, whole.data(), 100 * sizeof(T))) << describe(code) << cut;
      EXPECT_EQ(bytes[0], 0x5a);
      EXPECT_EQ(bytes[1 + 100 * sizeof(T)], 0x5a);
      EXPECT_EQ(pattern::check_single(code, 1, at, 5, 100).wrong, 0u);
    }
  });
}

TEST(Fill, NeighboursDifferInIndexRoundAndRank) {
  for_every_code(4, 9, [](auto element, Code const& code) {
    using T = decltype(element);
    auto const data = contribution<T>(code, 2, 0, 1024);
    Code next = code;
    ++next.round;
    std::size_t shifted = 0;
    for (std::size_t i = 0; i + 1 < data.size(); ++i) shifted += data[i] != data[i + 1] ? 1 : 0;
    std::size_t const stale = pattern::check_single(next, 2, data.data(), 0, data.size()).wrong;
    std::size_t const swapped = pattern::check_single(code, 3, data.data(), 0, data.size()).wrong;
    // A product is ±1 on most ranks, so a good part of its neighbours are equal.
    std::size_t const least = code.op == Op::prod ? 300 : 950;
    EXPECT_GT(shifted, least) << describe(code);
    EXPECT_GT(stale, least) << describe(code);
    EXPECT_GT(swapped, code.op == Op::prod ? 300u : 900u) << describe(code);
  });
}

TEST(FillIdentity, LeavesTheOtherOperandAsItIs) {
  for_every_code(2, 0, [](auto element, Code const& code) {
    using T = decltype(element);
    auto const data = contribution<T>(code, 1, 0, 50);
    std::vector<std::vector<T>> both{std::vector<T>(50), data};
    pattern::fill_identity(code, both[0].data(), 50);
    EXPECT_EQ(reduce(code.op, both), data) << describe(code);
  });
}

TEST(Check, SaysHowManyWhereAndWhichBits) {
  for_every_code(3, 4, [](auto element, Code const& code) {
    using T = decltype(element);
    auto data = reduce(code.op, contributions<T>(code, 1000, 70));
    auto const flip = [&data](std::size_t i, int bit) {
      data[i] = std::bit_cast<T>(
          static_cast<Bits<T>>(std::bit_cast<Bits<T>>(data[i]) ^ Bits<T>{1} << bit));
    };
    flip(33, 17);
    flip(34, 3);
    flip(69, 0);
    auto const check = pattern::check_reduced(code, data.data(), 1000, 70);
    EXPECT_EQ(check.wrong, 3u);
    EXPECT_EQ(check.first_wrong, 1033u);
    EXPECT_EQ(check.flipped, 1u << 17);
    EXPECT_EQ(pattern::check_reduced(code, data.data(), 1000, 33).wrong, 0u);
    EXPECT_EQ(pattern::check_reduced(code, nullptr, 0, 0).wrong, 0u);
  });
}

}  // namespace
}  // namespace berth::test
