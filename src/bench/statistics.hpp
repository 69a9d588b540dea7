// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <model/sweep.hpp>

/// Statistics of measured times. Pure, and the same on every rank: the bootstrap has a fixed seed.
namespace berth::bench {

/// The value below which a part `q` (0 to 1) of the samples lies, interpolated linearly between
/// neighbours. 0 when there is no sample.
double quantile(std::vector<double> samples, double q);
/// quantile(samples, 0.5).
double median(std::vector<double> samples);

/// A 95 % interval.
struct Interval {
  double low = 0;
  double high = 0;
};
/// Bootstrap interval of the median. One sample gives an interval without width.
Interval median_interval(std::vector<double> const& samples);

/// Two things measured in turn, compared.
struct Ratio {
  double value = 0;   ///< median of the other one divided by the median of ours
  Interval interval;  ///< paired bootstrap: rounds are drawn, not single samples
};
/// @param ours, other times of the same rounds; equally many, at least one
Ratio paired_ratio(std::vector<double> const& ours, std::vector<double> const& other);

/// All figures of a set of times.
model::Times summarize(std::vector<double> const& samples);

}  // namespace berth::bench
