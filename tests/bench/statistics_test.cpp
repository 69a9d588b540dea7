// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/sizes.hpp>
#include <bench/statistics.hpp>

namespace berth::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Times around 10 with a tail to the right, as measured ones have.
std::vector<double> skewed(int count) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back(10 + std::fmod(i * 7.31, 1.0) + (i % 9 ? 0 : 5));
  return samples;
}

TEST(Median, OfAnOddNumberIsTheMiddleOne) {
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheTwoMiddleOnes) {
  EXPECT_DOUBLE_EQ(median({9, 1, 5, 7}), 6);
}

TEST(Median, OfNothingIsZero) {
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  std::vector<double> const samples = {4, 1, 3, 2, 5};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.625), 3.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 5);
}

TEST(MedianInterval, ContainsTheMedianAndNarrowsWithMoreSamples) {
  Interval const few = median_interval(skewed(20));
  Interval const many = median_interval(skewed(400));
  EXPECT_LE(few.low, median(skewed(20)));
  EXPECT_GE(few.high, median(skewed(20)));
  EXPECT_LT(many.high - many.low, few.high - few.low);
}

TEST(MedianInterval, IsTheSameEveryTime) {
  EXPECT_DOUBLE_EQ(median_interval(skewed(50)).low, median_interval(skewed(50)).low);
  EXPECT_DOUBLE_EQ(median_interval(skewed(50)).high, median_interval(skewed(50)).high);
}

TEST(MedianInterval, OfOneSampleHasNoWidth) {
  EXPECT_DOUBLE_EQ(median_interval({3}).low, 3);
  EXPECT_DOUBLE_EQ(median_interval({3}).high, 3);
}

TEST(PairedRatio, IsExactWhereEveryRoundHasTheSameRatio) {
  std::vector<double> const ours = skewed(60);
  std::vector<double> other;
  for (double const time : ours) other.push_back(2 * time);
  Ratio const ratio = paired_ratio(ours, other);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.interval.low, 2);
  EXPECT_DOUBLE_EQ(ratio.interval.high, 2);
}

TEST(PairedRatio, IntervalOfEqualThingsContainsOne) {
  std::vector<double> const ours = skewed(200);
  std::vector<double> other(ours.rbegin(), ours.rend());
  Ratio const ratio = paired_ratio(ours, other);
  EXPECT_LE(ratio.interval.low, 1);
  EXPECT_GE(ratio.interval.high, 1);
}

TEST(Summary, OrdersItsFigures) {
  model::Times const times = summarize(skewed(100));
  EXPECT_LE(times.min, times.ci95_low);
  EXPECT_LE(times.ci95_low, times.median);
  EXPECT_LE(times.median, times.ci95_high);
  EXPECT_LE(times.ci95_high, times.p95);
  EXPECT_LE(times.p95, times.p99);
  EXPECT_LE(times.p99, times.max);
}

TEST(Summary, OfNothingIsZero) {
  EXPECT_DOUBLE_EQ(summarize({}).max, 0);
}

TEST(Sizes, GrowByAFactorUpToTheLast) {
  EXPECT_THAT(sizes_by_factor(8, 64, 2), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sizes_by_factor(8, 100, 4), ElementsAre(8, 32));
  EXPECT_THAT(sizes_by_factor(8, 8, 2), ElementsAre(8));
  EXPECT_THAT(sizes_by_factor(16, 8, 2), IsEmpty());
}

TEST(Sizes, GrowByAStepUpToTheLast) {
  EXPECT_THAT(sizes_by_step(8, 32, 8), ElementsAre(8, 16, 24, 32));
  EXPECT_THAT(sizes_by_step(0, 10, 4), ElementsAre(0, 4, 8));
}

TEST(Sizes, DoNotOverflow) {
  std::size_t const last = ~std::size_t{0};
  EXPECT_EQ(sizes_by_factor(1, last, 2).size(), 64U);
  EXPECT_THAT(sizes_by_step(last - 1, last, 4), ElementsAre(last - 1));
}

}  // namespace
}  // namespace berth::bench
