// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <bench/statistics.hpp>

namespace berth::bench {
namespace {

constexpr int resamples = 1000;
constexpr std::uint64_t seed = 20240229;
constexpr double tail = 0.025;

/// splitmix64: the same numbers everywhere, which the standard's distributions do not promise.
class Draws {
 public:
  /// A number below `bound`, which is not 0 and far below 2^32.
  std::size_t below(std::size_t bound) {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return static_cast<std::size_t>(((x >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_ = seed;
};

/// Median of a buffer that may be reordered.
double median_in_place(std::vector<double>& samples) {
  std::size_t const size = samples.size();
  auto const middle = samples.begin() + static_cast<std::ptrdiff_t>(size / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (size % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

Interval middle_of(std::vector<double> const& values) {
  return {quantile(values, tail), quantile(values, 1 - tail)};
}

}  // namespace

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  double const position = q * static_cast<double>(samples.size() - 1);
  auto const below = static_cast<std::size_t>(std::floor(position));
  std::size_t const above = std::min(below + 1, samples.size() - 1);
  double const part = position - static_cast<double>(below);
  return samples[below] + part * (samples[above] - samples[below]);
}

double median(std::vector<double> samples) {
  return samples.empty() ? 0 : median_in_place(samples);
}

Interval median_interval(std::vector<double> const& samples) {
  if (samples.empty()) return {};
  Draws draws;
  std::vector<double> medians;
  std::vector<double> drawn(samples.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : drawn) value = samples[draws.below(samples.size())];
    medians.push_back(median_in_place(drawn));
  }
  return middle_of(medians);
}

Ratio paired_ratio(std::vector<double> const& ours, std::vector<double> const& other) {
  Draws draws;
  std::vector<double> ratios;
  std::vector<double> drawn_ours(ours.size());
  std::vector<double> drawn_other(ours.size());
  for (int i = 0; i < resamples; ++i) {
    for (std::size_t k = 0; k < ours.size(); ++k) {
      std::size_t const round = draws.below(ours.size());
      drawn_ours[k] = ours[round];
      drawn_other[k] = other[round];
    }
    ratios.push_back(median_in_place(drawn_other) / median_in_place(drawn_ours));
  }
  return {median(other) / median(ours), middle_of(ratios)};
}

model::Times summarize(std::vector<double> const& samples) {
  if (samples.empty()) return {};
  Interval const interval = median_interval(samples);
  return {median(samples),
          *std::min_element(samples.begin(), samples.end()),
          quantile(samples, 0.95),
          quantile(samples, 0.99),
          *std::max_element(samples.begin(), samples.end()),
          interval.low,
          interval.high};
}

}  // namespace berth::bench
