// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <pattern/brute.hpp>

namespace berth::test {
namespace {

/// Whether `rank` is the chosen one at `index` (pattern.hpp).
bool is_chosen(Code const& code, int rank, std::size_t index) {
  auto const ranks = static_cast<std::size_t>(code.ranks);
  return (index / 8 + code.round) % ranks == static_cast<std::size_t>(rank);
}

/// What pattern.hpp promises: a flip of `bit` in this contribution shows in the reduced result.
template <class T>
bool must_show(Code const& code, bool chosen, T value, int bit) {
  if (chosen || code.op == Op::prod) return true;
  if (code.op != Op::sum) return false;
  if constexpr (std::is_integral_v<T>) {
    return true;
  } else {
    constexpr int fraction = std::numeric_limits<T>::digits - 1;
    if (bit >= fraction) return true;
    return std::ldexp(1.0, std::ilogb(value) - fraction + bit) >= 0.5;
  }
}

/// Flips every bit of every contribution to 32 elements, one at a time. Returns how many flips did
/// not show, and fails where one should have.
template <class T>
std::size_t flip_every_bit(Code const& code) {
  std::size_t hidden = 0;
  auto const all = contributions<T>(code, 0, 32);
  std::vector<T> const right = reduce(code.op, all);
  for (std::size_t i = 0; i < 32; ++i) {
    for (int rank = 0; rank < code.ranks; ++rank) {
      for (int bit = 0; bit < static_cast<int>(8 * sizeof(T)); ++bit) {
        T const value = all[static_cast<std::size_t>(rank)][i];
        T const bad = std::bit_cast<T>(
            static_cast<Bits<T>>(std::bit_cast<Bits<T>>(value) ^ Bits<T>{1} << bit));
        T out = rank == 0 ? bad : all[0][i];
        for (int r = 1; r < code.ranks; ++r) {
          out = apply(code.op, out, r == rank ? bad : all[static_cast<std::size_t>(r)][i]);
        }
        // std::min and std::max may lose a NaN; Berth's do not.
        if constexpr (std::is_floating_point_v<T>) {
          if (std::isnan(bad)) out = bad;
        }
        bool const shows = pattern::check_reduced(code, &out, i, 1).wrong == 1;
        EXPECT_EQ(shows, std::bit_cast<Bits<T>>(out) != std::bit_cast<Bits<T>>(right[i]));
        EXPECT_TRUE(shows || !must_show(code, is_chosen(code, rank, i), value, bit))
            << describe(code) << ", index " << i << ", rank " << rank << ", bit " << bit;
        hidden += shows ? 0 : 1;
      }
    }
  }
  return hidden;
}

TEST(FlippedBit, ShowsWhereverThePatternPromisesIt) {
  for (int const ranks : {1, 2, 3, 5, 8}) {
    for_every_code(ranks, 3, [](auto element, Code const& code) {
      using T = decltype(element);
      std::size_t const hidden = flip_every_bit<T>(code);
      bool const promised =
          code.ranks == 1 || code.op == Op::prod || (code.op == Op::sum && std::is_integral_v<T>);
      if (promised) {
        EXPECT_EQ(hidden, 0u) << describe(code);
      }
    });
  }
}

TEST(FlippedBit, InAFloatSumOfTwoRanksHidesOnlyInTheLowestFewBits) {
  constexpr std::size_t flips = std::size_t{32} * 2 * 32;
  EXPECT_LT(flip_every_bit<float>({Type::float32, Op::sum, 2, 0}), flips / 10);
}

TEST(FlippedBit, OfEveryRankShowsInSomeBlockOfEightTimesTheRanks) {
  // In a float sum each rank is the chosen one in turn, so each bit of each rank is seen somewhere.
  Code const code{Type::float32, Op::sum, 7, 5};
  for (int rank = 0; rank < 7; ++rank) {
    for (int bit = 0; bit < 32; ++bit) {
      auto all = contributions<float>(code, 0, 56);
      for (float& x : all[static_cast<std::size_t>(rank)]) {
        x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ 1u << bit);
      }
      EXPECT_GE(wrong_elements(code, all), 8u) << rank << ' ' << bit;
    }
  }
}

constexpr std::size_t many = 1024;

/// Calls f(T{}, code, contributions, number of a rank) for all codes and several rank counts.
template <class F>
void for_every_victim(F f) {
  for (int const ranks : {2, 3, 8, 33}) {
    for_every_code(ranks, 6, [&f](auto element, Code const& code) {
      using T = decltype(element);
      auto const all = contributions<T>(code, 0, many);
      for (int const rank : {0, code.ranks / 2, code.ranks - 1}) f(element, code, all, rank);
    });
  }
}

/// The fewest wrong elements of `many` by which a contribution that is wrong all over must show.
std::size_t least_wrong(Code const& code) {
  if (code.op == Op::sum) return many * 9 / 10;
  // Products are ±1 on all but one rank; of min and max only the chosen rank's is sure to show.
  return code.op == Op::prod ? many / 4 : many / 50;
}

TEST(LostContribution, ShowsAndASumIsShortOfIt) {
  for_every_victim([](auto element, Code const& code, auto all, int rank) {
    using T = decltype(element);
    auto& victim = all[static_cast<std::size_t>(rank)];
    auto const lost = victim;
    auto const right = reduce(code.op, all);
    pattern::fill_identity(code, victim.data(), many);
    std::size_t const wrong = wrong_elements(code, all);
    EXPECT_GE(wrong, code.op == Op::sum ? many : least_wrong(code)) << describe(code) << rank;
    if (code.op != Op::sum) return;
    auto const short_of_it = reduce(code.op, all);
    for (std::size_t i = 0; i < many; ++i) {
      EXPECT_EQ(static_cast<T>(right[i] - short_of_it[i]), lost[i]) << describe(code);
    }
  });
}

TEST(DoubledContribution, ShowsInSumsAndProducts) {
  for_every_victim([](auto, Code const& code, auto all, int rank) {
    if (code.op == Op::min || code.op == Op::max) return;
    all.push_back(all[static_cast<std::size_t>(rank)]);
    EXPECT_GE(wrong_elements(code, all), code.op == Op::sum ? many : least_wrong(code))
        << describe(code) << rank;
  });
}

TEST(ShiftedContribution, Shows) {
  for (std::size_t const shift : {1, 2, 7, 8, 64, 512, 1024, 4096, 65536, 1 << 20, 987}) {
    for_every_victim([shift](auto element, Code const& code, auto all, int rank) {
      using T = decltype(element);
      all[static_cast<std::size_t>(rank)] = contribution<T>(code, rank, shift, many);
      // A Fibonacci number is the worst shift: the hash moves on by the golden section.
      EXPECT_GE(wrong_elements(code, all), least_wrong(code) / 5)
          << describe(code) << ", rank " << rank << ", shift " << shift;
    });
  }
}

TEST(StaleContribution, Shows) {
  for (std::uint32_t const age : {1, 2, 3, 4, 6}) {
    for_every_victim([age](auto element, Code const& code, auto all, int rank) {
      using T = decltype(element);
      Code old = code;
      old.round -= age;
      all[static_cast<std::size_t>(rank)] = contribution<T>(old, rank, 0, many);
      EXPECT_GE(wrong_elements(code, all), least_wrong(code) / 2)
          << describe(code) << ", rank " << rank << ", age " << age;
    });
  }
}

TEST(ContributionOfAnotherRank, Shows) {
  for_every_victim([](auto, Code const& code, auto all, int rank) {
    auto const other = static_cast<std::size_t>((rank + 1) % code.ranks);
    all[static_cast<std::size_t>(rank)] = all[other];
    EXPECT_GE(wrong_elements(code, all), code.op == Op::sum ? many / 2 : least_wrong(code) / 2)
        << describe(code) << rank;
  });
}

TEST(DataOfAnotherOperation, IsNotRight) {
  Code const sum{Type::int32, Op::sum, 4, 1};
  Code const min{Type::int32, Op::min, 4, 1};
  auto const data = contribution<std::int32_t>(min, 2, 0, many);
  EXPECT_GT(pattern::check_single(sum, 2, data.data(), 0, many).wrong, many * 9 / 10);
}

}  // namespace
}  // namespace berth::test
