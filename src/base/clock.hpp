// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace berth::base {

using nanoseconds = std::chrono::nanoseconds;

/// Where time comes from; injected, so that tests and simulators own it.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic time since an arbitrary start.
  [[nodiscard]] virtual nanoseconds now() const = 0;
};

/// CLOCK_MONOTONIC.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] nanoseconds now() const override;
};

/// A deadline that counts capped ticks instead of wall time: a job that is suspended as a whole
/// does not expire on waking, because the sleep counts as one tick of at most `cap`.
class TickBudget {
 public:
  /// @param limit time after which expired() is true; zero: never
  /// @param cap the most that one tick may count
  TickBudget(nanoseconds limit, nanoseconds cap) : limit_(limit), cap_(cap) {}
  /// Starts (again) from zero at `now`: somebody made progress.
  void restart(nanoseconds now) {
    last_ = now;
    spent_ = nanoseconds::zero();
  }
  /// Counts the time since the last call, at most `cap`.
  void tick(nanoseconds now) {
    spent_ += std::min(now - last_, cap_);
    last_ = now;
  }
  /// Lets time pass without counting it (a debugger holds somebody).
  void skip(nanoseconds now) { last_ = now; }
  [[nodiscard]] nanoseconds spent() const { return spent_; }
  [[nodiscard]] bool expired() const { return limit_ > nanoseconds::zero() && spent_ >= limit_; }

 private:
  nanoseconds limit_;
  nanoseconds cap_;
  nanoseconds last_{};
  nanoseconds spent_{};
};

}  // namespace berth::base
