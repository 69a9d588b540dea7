// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <berth/error.hpp>
#include <ledger/watch.hpp>
#include <sys/shared_memory.hpp>

/// Ranks as threads: one host's ledger in ordinary memory, with processes and time of the test's
/// own making.
namespace berth::test {

using std::chrono::milliseconds;

/// Process facts that a test sets; every pid it has not touched is alive and asleep.
class FakeFacts final : public sys::ProcessFacts {
 public:
  static constexpr int first_pid = 1000;
  static constexpr int most = 16;

  [[nodiscard]] sys::ProcessState state(int pid, std::uint64_t /*start_time*/) const override {
    asked_.fetch_add(1, std::memory_order_relaxed);
    sys::ProcessState result{true, 'S', 0, 1};
    int const index = pid - first_pid;
    if (index < 0 || index >= most) return result;
    Process const& process = processes_[static_cast<std::size_t>(index)];
    result.state = process.state.load();
    result.alive = result.state != 'Z';
    result.tracer = process.tracer.load();
    return result;
  }
  void set_state(int rank, char state) { of(rank).state = state; }
  void kill(int rank) { set_state(rank, 'Z'); }
  void set_tracer(int rank, int tracer) { of(rank).tracer = tracer; }
  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct Process {
    std::atomic<char> state{'S'};
    std::atomic<int> tracer{0};
  };
  Process& of(int rank) { return processes_.at(static_cast<std::size_t>(rank)); }

  std::array<Process, most> processes_;
  mutable std::atomic<std::uint64_t> asked_{0};
};

/// Monotonic time that a test can move on; counts how often it is looked at.
class JumpingClock final : public base::Clock {
 public:
  [[nodiscard]] base::nanoseconds now() const override {
    looks_.fetch_add(1, std::memory_order_relaxed);
    return steady_.now() + base::nanoseconds(ahead_.load());
  }
  void jump(base::nanoseconds by) { ahead_ += by.count(); }
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  base::SteadyClock steady_;
  std::atomic<std::int64_t> ahead_{0};
  mutable std::atomic<std::uint64_t> looks_{0};
};

/// How one rank ended.
struct Outcome {
  std::optional<Error> error;  ///< what was thrown
  double seconds = 0;          ///< from the start of its body
};

/// One host of ranks.
class Fleet {
 public:
  explicit Fleet(int size)
      : memory_(sys::SharedMemory::anonymous(ledger::Ledger::bytes(size))), size_(size) {
    ledgers_.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      ledgers_.emplace_back(memory_.data(), size, rank);
      if (rank == 0) ledgers_.front().format();
    }
    for (int rank = 0; rank < size; ++rank) {
      of(rank).announce(rank, FakeFacts::first_pid + rank, 1);
      of(rank).set_phase(ledger::Phase::bench);
    }
  }

  FakeFacts facts;
  JumpingClock clock;
  base::Log log;

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] ledger::Ledger& of(int rank) { return ledgers_[static_cast<std::size_t>(rank)]; }

  /// Ticks of 10 ms, everything else as in life.
  [[nodiscard]] ledger::WatchSetup setup(int rank, milliseconds deadline, bool is_final = true) {
    ledger::WatchSetup setup;
    setup.rank = rank;
    for (int i = 0; i < size_; ++i) setup.hosts.push_back("n" + std::to_string(i / 2));
    setup.limits = {deadline, is_final};
    setup.tick = milliseconds(10);
    setup.spins = 20;
    setup.clock = &clock;
    setup.facts = &facts;
    setup.log = &log;
    setup.use_handles = false;
    return setup;
  }

  /// Changes a rank's set-up before its watch is made.
  using Adjust = std::function<void(ledger::WatchSetup&)>;
  /// What a rank does.
  using Body = std::function<void(int rank, ledger::Watch& watch)>;
  /// Runs `body` once per rank, each in its own thread with its own watch.
  std::vector<Outcome> run(milliseconds deadline, Body const& body, Adjust const& adjust = {}) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(size_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([&, rank] {
        ledger::WatchSetup own = setup(rank, deadline);
        if (adjust) adjust(own);
        ledger::Watch watch(std::move(own));
        watch.attach(of(rank));
        Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
        auto const start = std::chrono::steady_clock::now();
        try {
          body(rank, watch);
        } catch (Error const& error) {
          outcome.error = error;
        }
        outcome.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }

  /// A collective in which everybody waits until everybody has entered operation `number`.
  void all_enter(int rank, ledger::Watch& watch, std::uint64_t number) {
    enter(rank, number);
    watch.until_ready([&] {
      for (ledger::Ledger const& other : ledgers_) {
        if (other.own().progress.entered.load(std::memory_order_acquire) < number) return false;
      }
      return true;
    });
    of(rank).leave(number);
  }
  void enter(int rank, std::uint64_t number) {
    model::Descriptor operation;
    operation.number = number;
    operation.count = 1024;
    operation.collective = model::Collective::all_reduce;
    operation.type = Type::float32;
    of(rank).enter(operation);
  }

 private:
  sys::SharedMemory memory_;
  int size_;
  std::vector<ledger::Ledger> ledgers_;
};

/// Lets time pass; what else happens meanwhile is up to other threads.
inline void rest(milliseconds time) {
  std::this_thread::sleep_for(time);
}

/// Waits for another thread of the test, at most two seconds; false when it did not come.
inline bool comes_true(std::function<bool()> const& what) {
  for (int i = 0; i < 2000; ++i) {
    if (what()) return true;
    rest(milliseconds(1));
  }
  return what();
}

}  // namespace berth::test
