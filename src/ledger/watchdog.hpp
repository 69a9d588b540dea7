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
  /// Another ledger: gets to know its ranks. Then restart(). Under exclusively().
  void observe();
  /// Other limits: what was seen so far does not count. Under exclusively().
  void restart();

 private:
  /// What is known of one local rank beside its record.
  struct Peer {
    std::uint64_t beat = 0;       ///< last sign of life of its waiting thread
    base::nanoseconds silence{};  ///< ticks spent without a new one
    /// Its process is in our PID namespace. Of others only lateness is known.
    bool is_visible = false;
    sys::ProcessHandle handle;  ///< open when it is visible, not this rank, and handles are used
  };

  void run();
  bool sleep_until_needed(std::unique_lock<std::mutex>& lock, int& idle_ticks);
  void examine();
  void note_beats(base::nanoseconds passed);
  void note_progress(base::nanoseconds now);
  void probe_own(base::nanoseconds now);
  [[nodiscard]] bool somebody_ended() const;
  [[nodiscard]] bool somebody_is_debugged() const;
  [[nodiscard]] std::vector<RankView> look() const;
  [[nodiscard]] std::uint64_t moves() const;
  /// False when its waiting thread does not wait: it loops elsewhere.
  [[nodiscard]] bool has_beat(Peer const& peer) const;
  [[nodiscard]] bool is_in_mpi() const;
  /// True while nothing has happened since the last look.
  [[nodiscard]] bool is_unchanged() const;
  /// A time that is `most`, but less where the deadline is so short that it would come too late.
  [[nodiscard]] base::nanoseconds within_deadline(base::nanoseconds most, int divisor) const;
  /// True when it is time to ask the witness whether a rank has ended.
  bool asks_witness(base::nanoseconds now);
  void judge_dead();
  void judge_late(base::nanoseconds now);
  void pronounce(std::vector<Blame> const& blames);
  /// After a verdict: the waiting thread sees it and throws, unless it must end or cannot see.
  void end_if_needed();

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
  base::nanoseconds last_question_{};
  std::uint64_t seen_generation_ = 0;
  std::uint64_t seen_moves_ = 0;
  bool reported_ = false;
  std::vector<Peer> peers_;  ///< by local rank
  std::thread thread_;       // last: it uses everything above
};

}  // namespace berth::ledger
