// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <base/clock.hpp>
#include <base/log.hpp>
#include <base/patience.hpp>
#include <berth/options.hpp>
#include <ledger/ledger.hpp>
#include <ledger/verdict.hpp>
#include <ledger/witness.hpp>
#include <sys/process.hpp>

namespace berth::ledger {

/// How long to wait and what then.
struct Limits {
  base::nanoseconds deadline{};  ///< without progress by anyone
  /// true: an expired deadline ends the wait; false: it is reported once and the wait goes on
  bool is_final = true;
};

/// What a Watch needs from the world; injected, so that ranks may be threads or simulated.
struct WatchSetup {
  int rank = -1;
  std::vector<std::string> hosts;  ///< by rank, may be empty while not known
  OnLost on_lost = OnLost::raise;
  Limits limits;
  base::nanoseconds tick = std::chrono::milliseconds(50);
  base::nanoseconds tick_cap = std::chrono::milliseconds(250);
  int spins = 2000;  ///< pauses before a wait is long; few when cores are oversubscribed
  base::Clock const* clock = nullptr;        ///< not null; outlives the Watch
  sys::ProcessFacts const* facts = nullptr;  ///< not null; outlives the Watch
  base::Log const* log = nullptr;            ///< not null; outlives the Watch
  std::function<void()> progress;            ///< makes MPI progress; may be empty
  /// Is the thread inside a blocking MPI call alive in there? Empty: it cannot be known.
  std::function<bool()> probe;
  /// Knows of the others while there is no ledger yet. May be null; outlives the Watch.
  Witness* witness = nullptr;
  /// true: the end of local ranks is seen through pidfds; false: through `facts` alone (tests).
  bool use_handles = true;
  /// Called by the one speaking rank after its line, before the process ends (CLI: JSON, stdout).
  std::function<void(Verdict const&)> before_end;
  /// Ends the process; tests replace it. Empty: sys::end_process.
  std::function<void(int)> end;
};

/// Every wait of one communicator: spins, then yields and makes MPI progress; a watchdog thread
/// judges waits that outlast their spin. The thread starts with the first such wait, never calls
/// MPI, sleeps while nobody waits, and can end the process when MPI hangs.
/// until() and Blocked serve one thread at a time.
class Watch final : public base::Patience {
 public:
  explicit Watch(WatchSetup setup);
  ~Watch() override;  ///< Stops the thread; does not wait for peers.
  Watch(Watch const&) = delete;
  Watch& operator=(Watch const&) = delete;

  /// From now on verdicts come from the ledger. `ledger` outlives the Watch.
  void attach(Ledger const& ledger);
  /// Ends the watchdog thread until the next long wait: a communicator that nobody uses has none.
  /// Not while a wait or an Awake is open.
  void stand_down();
  void set_rank(int rank);
  void set_hosts(std::vector<std::string> hosts);
  void set_limits(Limits limits);
  [[nodiscard]] int spins() const { return setup_.spins; }
  void set_spins(int spins) { setup_.spins = spins; }

  /// Returns when `ready()` is true. @throws Error lost, timeout, mismatch, aborted
  template <class Ready>
  void until_ready(Ready&& ready, int peer = -1) {
    for (int i = 0; i < setup_.spins; ++i) {
      if (ready()) return;
      relax();
    }
    begin_long(WaitKind::waiting, peer);
    LongWait const ended(*this);
    while (!ready()) pause();
  }
  void until(std::function<bool()> const& ready, int peer) override {
    until_ready([&] { return ready(); }, peer);
  }

  /// A blocking MPI call: the watchdog judges it although nothing of Berth runs meanwhile.
  /// Only for OnLost::exit: nothing can throw out of MPI. Two stores and a branch.
  class Blocked {
   public:
    Blocked(Watch& watch, int peer) : watch_(watch) { watch_.begin_long(WaitKind::in_mpi, peer); }
    ~Blocked() { watch_.end_long(); }
    Blocked(Blocked const&) = delete;
    Blocked& operator=(Blocked const&) = delete;

   private:
    Watch& watch_;
  };
  /// Keeps the watchdog awake, so that Blocked costs no wake-up.
  class Awake {
   public:
    explicit Awake(Watch& watch);
    ~Awake();
    Awake(Awake const&) = delete;
    Awake& operator=(Awake const&) = delete;

   private:
    Watch& watch_;
  };

  /// Pronounces a verdict that came from elsewhere; the next wait throws it or ends.
  void pronounce(Verdict const& verdict);
  /// Pronounces a verdict found by the caller (a mismatch, an abort) and throws it or ends.
  [[noreturn]] void raise(Verdict const& verdict);
  /// True as soon as a verdict is known here.
  [[nodiscard]] bool has_verdict() const { return ledger_->has_verdict(); }
  /// Throws or ends when there is a verdict already.
  void check();
  [[nodiscard]] OnLost on_lost() const { return setup_.on_lost; }

  /// One pause of a spin.
  static void relax() noexcept;
  /// Lets another thread or rank have the core.
  static void give_way() noexcept;

 private:
  /// Ends the announcement on every way out.
  class LongWait {
   public:
    explicit LongWait(Watch& watch) : watch_(watch) {}
    ~LongWait() { watch_.end_long(); }
    LongWait(LongWait const&) = delete;
    LongWait& operator=(LongWait const&) = delete;

   private:
    Watch& watch_;
  };
  class Watchdog;
  friend class Watchdog;

  void begin_long(WaitKind kind, int peer);
  void end_long() noexcept;
  void pause();
  Watchdog& watchdog();
  /// Runs `change` while the watchdog, if there is one, does not look.
  void exclusively(std::function<void()> const& change);
  /// Throws the verdict, or ends the process: whichever on_lost says.
  [[noreturn]] void conclude();
  /// Prints (one rank of the host does) and ends the process. For both threads, at any time: the
  /// first one ends, the other waits for that.
  void end();
  void speak(Verdict const& verdict);
  void print(Verdict const& verdict);
  /// True when this rank is to report the verdict that it throws. Once per Watch.
  bool is_reporter();
  /// True when a local rank cannot be expected to go on: gone or stopped.
  [[nodiscard]] bool is_lost(int local_rank) const;

  WatchSetup setup_;
  struct FreeMemory {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, FreeMemory> private_memory_;  ///< a ledger of one, until attach()
  Ledger private_ledger_;
  Ledger const* ledger_;
  Waiting* waiting_;  ///< in the own record
  std::uint64_t pauses_ = 0;
  std::optional<bool> is_reporter_;
  std::once_flag ended_;
  std::unique_ptr<Watchdog> watchdog_;  ///< last: its thread uses everything above
};

}  // namespace berth::ledger
