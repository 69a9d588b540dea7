// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <cpu/stores.hpp>

namespace berth::cpu {
namespace {

/// The first of a series of trials find caches in the state that the other kind left; the second
/// half is timed.
struct Pace {
  std::uint64_t series;  ///< operations in a row of one kind
  std::uint64_t period;  ///< operations between two comparisons
};

/// Long operations are few and bring their caches into their own state.
constexpr std::size_t long_class = 4;  // from 256 KiB
Pace pace(std::size_t size_class) {
  return size_class < long_class ? Pace{8, 512} : Pace{4, 128};
}

}  // namespace

std::size_t Stores::class_of(std::size_t bytes) {
  // 1 KiB to 4 KiB is class 0.
  auto const width = static_cast<std::size_t>(std::bit_width(bytes));
  return std::min(width < 12 ? 0 : (width - 11) / 2, class_count - 1);
}

Stores::Turn Stores::turn(std::size_t size_class, std::uint64_t count) {
  auto const [series, period] = pace(size_class);
  // It begins with one series of each kind and a comparison.
  std::uint64_t const place =
      count < 2 * series ? period - 2 * series + count : (count - 2 * series) % period;
  if (place < period - 2 * series) return {};
  std::uint64_t const in_series = (place - (period - 2 * series)) % series;
  return {place >= period - series, in_series >= series / 2, place == period - 1};
}

bool Stores::is_chosen(std::size_t size_class) const {
  std::uint64_t const bits = context_.segment.mark(0, Mark::stores).load(std::memory_order_relaxed);
  return (bits >> size_class & 1) != 0;
}

bool Stores::is_streamed(std::size_t bytes) const {
  if (context_.tuning.store != coll::Store::automatic) {
    return context_.tuning.store == coll::Store::streamed;
  }
  return is_chosen(class_of(bytes));
}

void Stores::begin(std::size_t bytes) {
  is_timed_ = false;
  if (context_.tuning.store != coll::Store::automatic || !may_try_) {
    is_streamed_ = is_streamed(bytes);
    return;
  }
  class_ = class_of(bytes);
  turn_ = turn(class_, classes_[class_].count++);
  is_streamed_ = is_chosen(class_) != turn_.is_trial;
  is_timed_ = turn_.is_sample && context_.local == 0;
  spent_ = {};
}

void Stores::end() {
  if (!is_timed_) return;
  base::nanoseconds& best = classes_[class_].best[is_streamed_ ? 1 : 0];
  best = std::min(best, spent_);
  if (turn_.is_last) choose(class_);
}

void Stores::choose(std::size_t size_class) {
  Class& times = classes_[size_class];
  bool const chosen = is_chosen(size_class);
  base::nanoseconds const now = times.best[chosen ? 1 : 0];
  base::nanoseconds const other = times.best[chosen ? 0 : 1];
  times.best[0] = times.best[1] = base::nanoseconds::max();
  // A clear gain only: the two are close where it does not matter.
  if (other.count() >= now.count() / 100 * 97) return;
  std::atomic<std::uint64_t>& mark = context_.segment.mark(0, Mark::stores);
  std::uint64_t const bits = mark.load(std::memory_order_relaxed);
  mark.store(bits ^ std::uint64_t{1} << size_class, std::memory_order_relaxed);
}

}  // namespace berth::cpu
