// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <base/clock.hpp>
#include <ledger/watch.hpp>

namespace berth::ledger {

/// The thread behind a Watch. It looks at the ledger a few times a second while somebody waits,
/// sleeps otherwise, and never calls MPI.
class Watch::Watchdog {
 public:
  explicit Watchdog(Watch& watch);
  ~Watchdog();
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;

  /// The waiting thread begins or ends a long wait. `arm` costs a store and a load unless the
  /// thread is asleep.
  void arm();
  void disarm() noexcept { armed_.store(false, std::memory_order_release); }
  void keep_awake(int change);
  /// Runs `change` while the thread does not look.
  template <class Change>
  void exclusively(Change&& change) {
    std::lock_guard const lock(mutex_);
    change();
  }
  /// New ledger or limits: what was seen so far does not count.
  void reset();

 private:
  /// Last sign of life of one local rank's waiting thread.
  struct Beat {
    std::uint64_t value = 0;
    base::nanoseconds since{};  ///< ticks spent without a change
  };

  void run();
  bool sleep_until_needed(std::unique_lock<std::mutex>& lock, int& idle_ticks);
  void examine();
  void note_beats(base::nanoseconds passed);
  [[nodiscard]] bool somebody_ended() const;
  [[nodiscard]] bool somebody_is_debugged() const;
  [[nodiscard]] std::vector<RankView> look() const;
  [[nodiscard]] std::uint64_t moves() const;
  void judge_now(bool expired);

  Watch& watch_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<bool> armed_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<int> kept_awake_{0};
  std::atomic<std::uint64_t> generation_{0};

  base::TickBudget budget_;
  base::nanoseconds last_look_{};
  base::nanoseconds last_probe_{};
  std::uint64_t seen_generation_ = 0;
  std::uint64_t seen_moves_ = 0;
  bool reported_ = false;
  std::vector<Beat> beats_;
  std::vector<sys::ProcessHandle> handles_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace berth::ledger
