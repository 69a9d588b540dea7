// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include <fmt/format.h>

#include <base/units.hpp>
#include <bench/case.hpp>
#include <bench/statistics.hpp>
#include <pattern/pattern.hpp>

namespace berth::bench {
namespace {

/// Long enough that reading the clock and the end of a barrier do not matter.
constexpr double batch_us = 200;
constexpr int longest_batch = 4096;
/// Rounds between two looks at the clock, and so the fewest that are made.
constexpr int rounds_at_once = 20;
constexpr int most_rounds = 400;

constexpr std::size_t out_of_place = 0;
constexpr std::size_t in_place = 1;
constexpr std::size_t reference = 2;

double microseconds(base::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

}  // namespace

Case::Case(Communicator::Impl& impl, Plan const& plan, std::size_t count, Type type, Op op,
           double seconds)
    : impl_(impl), plan_(plan), count_(count), type_(type), op_(op), seconds_(seconds) {
  std::size_t const bytes = count * size_of(type);
  std::size_t const needed = plan.compare ? 4 : 3;
  Errc code = Errc::ok;
  try {
    for (std::size_t i = 0; i < needed; ++i) buffers_.emplace_back(bytes);
  } catch (std::bad_alloc const&) {
    code = Errc::out_of_memory;
  }
  impl_.agree(code, code == Errc::ok ? ""
                                     : fmt::format("bench: no memory for {} buffers of {}", needed,
                                                   base::format_bytes(bytes)));
  for (Buffer const& buffer : buffers_) buffer.rewrite(type, impl.rank());
  Buffer const& input = buffers_[0];
  Buffer const& own = buffers_[2];
  variants_.push_back({&impl.backend(), input.data(), buffers_[1].data(), &input});
  variants_.push_back({&impl.backend(), own.data(), own.data(), &own});
  if (plan.compare)
    variants_.push_back({&impl.reference(), input.data(), buffers_[3].data(), &input});
}

void Case::run(Variant const& variant) {
  impl_.run(*variant.backend,
            {model::Collective::all_reduce, variant.in, variant.out, count_, type_, op_});
}

void Case::check(Variant& variant, std::uint32_t round) {
  pattern::Code const code{type_, op_, impl_.size(), round};
  pattern::fill(code, impl_.rank(), variant.in, 0, count_);
  run(variant);
  std::uint64_t const wrong = pattern::check_reduced(code, variant.out, 0, count_).wrong;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(impl_.size()));
  impl_.mpi().all_gather(&wrong, sizeof wrong, all.data(), impl_.watch());
  variant.wrong += std::accumulate(all.begin(), all.end(), std::size_t{0});
}

double Case::time_batch(Variant const& variant) {
  variant.rewritten->rewrite(type_, impl_.rank());
  impl_.run(impl_.backend(), {model::Collective::barrier});
  base::nanoseconds const start = clock_.now();
  for (int i = 0; i < variant.batch; ++i) run(variant);
  return microseconds(clock_.now() - start) / variant.batch;
}

void Case::slowest(std::vector<double>& values) {
  std::vector<double> all(values.size() * static_cast<std::size_t>(impl_.size()));
  impl_.mpi().all_gather(values.data(), values.size() * sizeof(double), all.data(), impl_.watch());
  for (std::size_t i = 0; i < all.size(); ++i)
    values[i % values.size()] = std::max(values[i % values.size()], all[i]);
}

void Case::warm_up() {
  std::vector<double> times;
  for (Variant& variant : variants_) {
    variant.batch = std::max(plan_.warmup, 1);
    if (plan_.warmup > 0) time_batch(variant);
    times.push_back(time_batch(variant));
  }
  slowest(times);
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    double const wanted = batch_us / std::max(times[i], 1e-3);
    variants_[i].batch =
        static_cast<int>(std::clamp(std::ceil(wanted), 1.0, double{longest_batch}));
  }
}

void Case::round(bool is_reversed) {
  std::size_t const variants = variants_.size();
  for (std::size_t i = 0; i < variants; ++i) {
    Variant& variant = variants_[is_reversed ? variants - 1 - i : i];
    variant.samples.push_back(time_batch(variant));
  }
}

void Case::run_rounds() {
  int done = 0;
  base::nanoseconds const start = clock_.now();
  for (;;) {
    int const next = std::min(plan_.iterations.value_or(most_rounds) - done, rounds_at_once);
    for (int i = 0; i < next; ++i, ++done) round(done % 2 == 1);
    if (done == plan_.iterations.value_or(most_rounds)) return;
    if (plan_.iterations) continue;
    // The clocks differ; the slowest rank decides for all whether there is time for more.
    std::vector<double> elapsed = {microseconds(clock_.now() - start)};
    slowest(elapsed);
    double const with_more = elapsed.front() * (done + rounds_at_once) / done;
    if (with_more > seconds_ * 1e6) return;
  }
}

model::Measured Case::measured(Variant const& variant) const {
  model::Measured result;
  result.time_us = summarize(variant.samples);
  result.wrong = variant.wrong;
  double const ranks = impl_.size();
  double const bytes = static_cast<double>(count_ * size_of(type_));
  if (result.time_us.median > 0) result.algbw_gbps = bytes / result.time_us.median / 1e3;
  result.busbw_gbps = result.algbw_gbps * 2 * (ranks - 1) / ranks;
  return result;
}

model::Result Case::measure() {
  if (plan_.check) {
    std::uint32_t number = 1;
    for (Variant& variant : variants_) check(variant, number++);
  }
  warm_up();
  run_rounds();
  for (Variant& variant : variants_) slowest(variant.samples);

  model::Result result;
  result.collective = "all_reduce";
  result.backend = std::string(impl_.backend().name());
  result.size_bytes = count_ * size_of(type_);
  result.count = count_;
  result.type = type_;
  result.op = op_;
  result.out_of_place = measured(variants_[out_of_place]);
  result.in_place = measured(variants_[in_place]);
  if (plan_.compare) {
    Variant const& other = variants_[reference];
    Ratio const ratio = paired_ratio(variants_[out_of_place].samples, other.samples);
    result.compare = model::Compared{std::string(other.backend->name()), measured(other),
                                     ratio.value, ratio.interval.low, ratio.interval.high};
  }
  return result;
}

}  // namespace berth::bench
