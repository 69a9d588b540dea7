// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <base/clock.hpp>
#include <cpu/context.hpp>

namespace berth::cpu {

/// Chooses how shared memory is written: with ordinary stores, or around the cache.
///
/// Which is faster (by up to a factor of two and a half, either way) depends on whether the cores
/// share a last-level cache, and in a virtual machine that changes while a job runs. So both are
/// tried out: all ranks of a host count their operations by size class and so agree, without a
/// word, which ones are trials; local rank 0 takes the time of a few and publishes what is faster.
/// The choice changes neither a result nor the protocol, so it may reach the others late.
class Stores {
 public:
  /// @param may_try false: no trials (the network decides how long an operation takes)
  Stores(Context const& context, bool may_try) : context_(context), may_try_(may_try) {}

  /// Begins an all-reduce of so many bytes; the same calls on all ranks of the host.
  void begin(std::size_t bytes);
  /// Ends it.
  void end();
  /// Around the operation's work, waits for late ranks left out.
  void start() {
    if (is_timed_) started_ = clock_.now();
  }
  void stop() {
    if (is_timed_) spent_ += clock_.now() - started_;
  }
  /// True when the operation that has begun stores around the cache.
  [[nodiscard]] bool is_streamed() const { return is_streamed_; }
  /// What an operation that is no all-reduce does; no trial.
  [[nodiscard]] bool is_streamed(std::size_t bytes) const;

 private:
  static constexpr std::size_t class_count = 16;
  /// Operations of one size class, between a power of four and the next.
  struct Class {
    std::uint64_t count = 0;
    base::nanoseconds best[2] = {base::nanoseconds::max(), base::nanoseconds::max()};
  };
  /// What one operation is for.
  struct Turn {
    bool is_trial = false;   ///< of what is not the choice
    bool is_sample = false;  ///< its time counts
    bool is_last = false;    ///< afterwards the times are compared
  };
  [[nodiscard]] static std::size_t class_of(std::size_t bytes);
  [[nodiscard]] static Turn turn(std::size_t size_class, std::uint64_t count);
  [[nodiscard]] bool is_chosen(std::size_t size_class) const;
  void choose(std::size_t size_class);

  Context const& context_;
  bool may_try_;
  base::SteadyClock clock_;
  std::array<Class, class_count> classes_;
  std::size_t class_ = 0;
  Turn turn_;
  bool is_streamed_ = false;
  bool is_timed_ = false;
  base::nanoseconds started_{};
  base::nanoseconds spent_{};
};

}  // namespace berth::cpu
