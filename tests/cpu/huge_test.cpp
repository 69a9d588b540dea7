// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cpu/thread_ranks.hpp"

/// More than 2^31 elements, in place: 4.3 GB for two ranks.
namespace berth::cpu::test {
namespace {

constexpr std::size_t half = (std::size_t{1} << 30) + 19;
constexpr std::size_t whole = 2 * half;

std::uint8_t value(int rank, std::size_t index) {
  return static_cast<std::uint8_t>(index * 7 + (index >> 13) * 3 + (index >> 29) +
                                   static_cast<std::uint64_t>(rank) * 31);
}

void fill(std::vector<std::uint8_t>& data, int rank) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(rank, i);
}

template <class Right>
void expect(std::vector<std::uint8_t> const& data, std::size_t begin, std::size_t end,
            Right const& right) {
  std::size_t wrong = 0;
  for (std::size_t i = begin; i < end; ++i) wrong += data[i] != right(i) ? 1 : 0;
  EXPECT_EQ(0U, wrong);
}

std::uint8_t sum(std::size_t index) {
  return static_cast<std::uint8_t>(value(0, index) + value(1, index));
}

void play(Rank& rank) {
  std::vector<std::uint8_t> data(whole);
  auto const own = static_cast<std::size_t>(rank.rank) * half;
  fill(data, rank.rank);
  rank.all_reduce(data.data(), data.data(), whole, Type::uint8, Op::sum);
  expect(data, 0, whole, sum);
  fill(data, rank.rank);
  rank.reduce_scatter(data.data(), data.data() + own, half, Type::uint8, Op::sum);
  expect(data, own, own + half, sum);
  rank.all_gather(data.data() + own, data.data(), half, Type::uint8);
  expect(data, 0, whole, sum);
  fill(data, rank.rank);
  rank.all_to_all(data.data(), data.data(), half, Type::uint8);
  expect(data, 0, half, [&](std::size_t i) { return value(0, i + own); });
  expect(data, half, whole, [&](std::size_t i) { return value(1, i - half + own); });
  if (rank.rank == 0) fill(data, 0);
  rank.exchange({{rank.rank == 0, 1 - rank.rank, Type::uint8, whole, data.data(), data.data()}});
  rank.broadcast(data.data(), whole, Type::uint8, 1);
  expect(data, 0, whole, [](std::size_t i) { return value(0, i); });
}

TEST(Huge, CountsAboveTwoToThe31AreExactOnOneHost) {
  Job job({2});
  for (auto const& error : job.run(play)) ASSERT_FALSE(error) << error->what();
}

TEST(Huge, CountsAboveTwoToThe31AreExactBetweenHosts) {
  Job job({1, 1});
  for (auto const& error : job.run(play)) ASSERT_FALSE(error) << error->what();
}

}  // namespace
}  // namespace berth::cpu::test
