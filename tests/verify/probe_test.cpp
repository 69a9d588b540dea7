// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <verify/probe.hpp>

namespace berth::verification {
namespace {

constexpr Type all_types[] = {Type::int32, Type::int64, Type::float32, Type::float64};

template <class T>
Word bits(T value) {
  Word word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

/// What arrives when `bit` of `guilty`'s contribution to `element` is flipped.
Word flipped(Probe const& probe, Type type, std::size_t element, int guilty, int bit) {
  std::vector<Word> words = probe.words(element);
  words[static_cast<std::size_t>(guilty)] ^= Word{1} << bit;
  return reduce(type, Probe::op(), words);
}

Word right(Probe const& probe, Type type, std::size_t element) {
  return reduce(type, Probe::op(), probe.words(element));
}

TEST(Probe, ShowsEveryFlippedBitOfTheOwner) {
  for (Type const type : all_types) {
    for (int const ranks : {1, 2, 5}) {
      for (int owner = 0; owner < ranks; ++owner) {
        Probe const probe(type, ranks, 7, owner);
        for (int bit = 0; bit < static_cast<int>(8 * size_of(type)); ++bit)
          EXPECT_FALSE(same(type, flipped(probe, type, 40, owner, bit), right(probe, type, 40)))
              << "type " << static_cast<int>(type) << " bit " << bit;
      }
    }
  }
}

TEST(Probe, NamesTheOwnerAndTheBitOfEveryFlip) {
  for (Type const type : all_types) {
    Probe const probe(type, 5, 3, 2);
    for (int bit = 0; bit < static_cast<int>(8 * size_of(type)); ++bit) {
      auto const culprits =
          explain(type, Probe::op(), probe.words(9), flipped(probe, type, 9, 2, bit));
      ASSERT_FALSE(culprits.empty());
      bool has_bit = false;
      for (Culprit const& culprit : culprits) {
        EXPECT_EQ(culprit.rank, 2);
        has_bit = has_bit || culprit.bit == bit;
      }
      EXPECT_TRUE(has_bit) << bit;
    }
  }
}

TEST(Probe, NeverBlamesTheOwnerForAnother) {
  for (Type const type : all_types) {
    Probe const probe(type, 5, 3, 2);
    for (int bit = 0; bit < static_cast<int>(8 * size_of(type)); ++bit) {
      Word const observed = flipped(probe, type, 9, 4, bit);
      if (same(type, observed, right(probe, type, 9))) continue;
      for (Culprit const& culprit : explain(type, Probe::op(), probe.words(9), observed))
        EXPECT_EQ(culprit.rank, 4) << bit;
    }
  }
}

TEST(Probe, LetsEveryRankOwnEveryElementInTurn) {
  constexpr int ranks = 5;
  for (std::size_t element = 0; element < 2 * Probe::period; ++element) {
    int owners = 0;
    for (int shift = 0; shift < ranks; ++shift) {
      Probe const probe(Type::int32, ranks, 1, std::nullopt, shift);
      if (static_cast<std::int32_t>(probe.word(3, element)) > 0) ++owners;
    }
    EXPECT_EQ(owners, 1) << element;
  }
}

TEST(Probe, FindsNothingInARightResultAndTheFirstWrongElement) {
  constexpr std::size_t count = 1000;
  for (Type const type : all_types) {
    Probe const probe(type, 3, 11, 1);
    std::size_t const size = size_of(type);
    std::vector<std::byte> data(count * size + 1);
    std::byte* const start = data.data() + 1;  // any alignment
    probe.fill(1, start, count);
    EXPECT_EQ(probe.check(start, count).count, 0U);
    EXPECT_EQ(probe.check_own(1, start, count).count, 0U);
    start[700 * size] ^= std::byte{4};
    start[900 * size] ^= std::byte{4};
    Wrong const wrong = probe.check(start, count);
    EXPECT_EQ(wrong.count, 2U);
    EXPECT_EQ(wrong.first, 700U);
    EXPECT_EQ(wrong.observed, probe.word(1, 700) ^ 4U);
  }
}

TEST(Probe, DiffersFromRoundToRound) {
  EXPECT_NE(Probe(Type::float64, 2, 1, 0).word(0, 5), Probe(Type::float64, 2, 2, 0).word(0, 5));
}

TEST(Reduce, WrapsIntegersAndKeepsNaN) {
  EXPECT_EQ(reduce(Type::int32, Op::sum, {bits(std::int32_t{2147483647}), bits(std::int32_t{1})}),
            bits(std::int32_t{-2147483647 - 1}));
  Word const nan = bits(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(same(Type::float32, reduce(Type::float32, Op::max, {nan, bits(1.0F)}), nan));
  EXPECT_TRUE(same(Type::float32, reduce(Type::float32, Op::min, {bits(1.0F), nan}), nan));
}

TEST(Reduce, TakesTheSmallestAndTheLargest) {
  std::vector<Word> const words = {bits(2.0), bits(-3.0), bits(7.0)};
  EXPECT_EQ(reduce(Type::float64, Op::min, words), bits(-3.0));
  EXPECT_EQ(reduce(Type::float64, Op::max, words), bits(7.0));
  EXPECT_EQ(reduce(Type::float64, Op::prod, words), bits(-42.0));
}

TEST(Explain, FindsAllContributionsThatFit) {
  // 1 + 1 = 2; a flipped bit 1 in either one gives 4.
  std::vector<Word> const words = {bits(std::int32_t{1}), bits(std::int32_t{1})};
  auto const culprits = explain(Type::int32, Op::sum, words, bits(std::int32_t{4}));
  ASSERT_EQ(culprits.size(), 2U);
  EXPECT_EQ(culprits[0].rank, 0);
  EXPECT_EQ(culprits[1].rank, 1);
  EXPECT_EQ(culprits[0].bit, 1);
}

}  // namespace
}  // namespace berth::verification
