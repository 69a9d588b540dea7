// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <utility>

#include <pthread.h>

#include <ledger/watchdog.hpp>

namespace berth::ledger {

namespace {

/// Without a sign of life for this long a waiting thread does not wait: it loops elsewhere.
constexpr base::nanoseconds beat_limit = std::chrono::seconds(1);
/// A blocking MPI call is probed from here on, and then this often.
constexpr base::nanoseconds probe_after = std::chrono::milliseconds(500);
constexpr base::nanoseconds probe_every = std::chrono::milliseconds(250);
constexpr int idle_ticks_before_sleep = 20;

}  // namespace

Watch::Watchdog::Watchdog(Watch& watch)
    : watch_(watch), budget_(watch.setup_.limits.deadline, watch.setup_.tick_cap) {
  reset();
  // The program's signal handlers must not run on this thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watch::Watchdog::~Watchdog() {
  {
    std::lock_guard const lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watch::Watchdog::reset() {
  Ledger const& ledger = *watch_.ledger_;
  budget_ = base::TickBudget(watch_.setup_.limits.deadline, watch_.setup_.tick_cap);
  last_look_ = watch_.setup_.clock->now();
  last_probe_ = last_look_;
  budget_.restart(last_look_);
  reported_ = false;
  beats_.assign(static_cast<std::size_t>(ledger.local_size()), {});
  handles_.clear();
  if (!watch_.setup_.use_handles) return;
  for (int i = 0; i < ledger.local_size(); ++i) {
    Identity const& identity = ledger.record(i).identity;
    handles_.emplace_back(i == ledger.self()
                              ? sys::ProcessHandle()
                              : sys::ProcessHandle(identity.pid, identity.start_time));
  }
}

void Watch::Watchdog::arm() {
  generation_.store(generation_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (kept_awake_.load(std::memory_order_relaxed) > 0) {
    armed_.store(true, std::memory_order_release);
    return;
  }
  // Against the thread's "asleep, then look at armed": one of the two sees the other.
  armed_.store(true, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst)) {
    std::lock_guard const lock(mutex_);
    wake_.notify_all();
  }
}

void Watch::Watchdog::keep_awake(int change) {
  kept_awake_.fetch_add(change, std::memory_order_seq_cst);
  std::lock_guard const lock(mutex_);
  wake_.notify_all();
}

void Watch::Watchdog::run() {
  std::unique_lock lock(mutex_);
  int idle_ticks = 0;
  while (!stop_) {
    if (sleep_until_needed(lock, idle_ticks)) continue;
    wake_.wait_for(lock, watch_.setup_.tick, [&] { return stop_; });
    if (!stop_ && armed_.load(std::memory_order_acquire)) examine();
  }
}

bool Watch::Watchdog::sleep_until_needed(std::unique_lock<std::mutex>& lock, int& idle_ticks) {
  auto const needed = [&] {
    return stop_ || armed_.load(std::memory_order_seq_cst) ||
           kept_awake_.load(std::memory_order_seq_cst) > 0;
  };
  if (needed()) {
    idle_ticks = 0;
    return false;
  }
  if (++idle_ticks < idle_ticks_before_sleep) return false;
  asleep_.store(true, std::memory_order_seq_cst);
  wake_.wait(lock, needed);
  asleep_.store(false, std::memory_order_seq_cst);
  idle_ticks = 0;
  return true;
}

std::uint64_t Watch::Watchdog::moves() const {
  Ledger const& ledger = *watch_.ledger_;
  std::uint64_t sum = 0;
  for (int i = 0; i < ledger.local_size(); ++i) {
    Progress const& progress = ledger.record(i).progress;
    sum += progress.entered.load(std::memory_order_relaxed) +
           progress.left.load(std::memory_order_relaxed) +
           progress.steps.load(std::memory_order_relaxed);
  }
  return sum;
}

void Watch::Watchdog::note_beats(base::nanoseconds passed) {
  Ledger const& ledger = *watch_.ledger_;
  for (int i = 0; i < ledger.local_size(); ++i) {
    Beat& beat = beats_[static_cast<std::size_t>(i)];
    std::uint64_t const value = ledger.record(i).waiting.beat.load(std::memory_order_relaxed);
    beat.since = value == beat.value ? beat.since + passed : base::nanoseconds::zero();
    beat.value = value;
  }
}

bool Watch::Watchdog::somebody_ended() const {
  Ledger const& ledger = *watch_.ledger_;
  for (int i = 0; i < ledger.local_size(); ++i) {
    if (i == ledger.self()) continue;
    Record const& record = ledger.record(i);
    if (record.progress.phase.load(std::memory_order_acquire) >= Phase::closed) continue;
    bool const ended =
        watch_.setup_.use_handles
            ? handles_[static_cast<std::size_t>(i)].ended()
            : !watch_.setup_.facts->state(record.identity.pid, record.identity.start_time).alive;
    if (ended) return true;
  }
  return false;
}

bool Watch::Watchdog::somebody_is_debugged() const {
  Ledger const& ledger = *watch_.ledger_;
  for (int i = 0; i < ledger.local_size(); ++i) {
    Identity const& identity = ledger.record(i).identity;
    if (watch_.setup_.facts->state(identity.pid, identity.start_time).tracer != 0) return true;
  }
  return false;
}

std::vector<RankView> Watch::Watchdog::look() const {
  Ledger const& ledger = *watch_.ledger_;
  std::vector<RankView> views;
  for (int i = 0; i < ledger.local_size(); ++i) {
    Record const& record = ledger.record(i);
    sys::ProcessState const state =
        watch_.setup_.facts->state(record.identity.pid, record.identity.start_time);
    RankView view;
    view.rank = record.identity.rank;
    view.pid = record.identity.pid;
    view.alive = state.alive;
    view.state = state.state;
    view.phase = record.progress.phase.load(std::memory_order_acquire);
    view.entered = record.progress.entered.load(std::memory_order_acquire);
    view.left = record.progress.left.load(std::memory_order_acquire);
    view.wait = record.waiting.kind.load(std::memory_order_acquire);
    view.peer = record.waiting.peer.load(std::memory_order_relaxed);
    view.beats = beats_[static_cast<std::size_t>(i)].since < beat_limit;
    view.beat_known = view.wait == WaitKind::waiting ||
                      record.waiting.probed.load(std::memory_order_relaxed) != 0;
    if (auto const operation = ledger.recorded(i, view.entered)) {
      view.operation = describe(*operation);
    }
    views.push_back(std::move(view));
  }
  return views;
}

void Watch::Watchdog::examine() {
  base::nanoseconds const now = watch_.setup_.clock->now();
  base::nanoseconds const passed = std::min(now - last_look_, watch_.setup_.tick_cap);
  last_look_ = now;
  note_beats(passed);
  std::uint64_t const generation = generation_.load(std::memory_order_relaxed);
  std::uint64_t const moved = moves();
  if (generation != seen_generation_ || moved != seen_moves_) {
    seen_generation_ = generation;
    seen_moves_ = moved;
    reported_ = false;
    budget_.restart(now);
    for (Beat& beat : beats_) beat.since = base::nanoseconds::zero();
  }
  budget_.tick(now);
  bool const in_mpi = watch_.waiting_->kind.load(std::memory_order_acquire) == WaitKind::in_mpi;
  if (in_mpi && watch_.setup_.probe && budget_.spent() > probe_after &&
      now - last_probe_ > probe_every) {
    last_probe_ = now;
    if (watch_.setup_.probe()) watch_.waiting_->beat.fetch_add(1, std::memory_order_relaxed);
  }
  if (watch_.ledger_->has_verdict()) {
    if (watch_.setup_.on_lost == OnLost::exit || in_mpi) watch_.end(*watch_.ledger_);
    return;
  }
  if (somebody_ended()) {
    judge_now(false);
  } else if (budget_.expired()) {
    if (somebody_is_debugged()) {
      budget_.restart(now);
    } else {
      judge_now(true);
    }
  }
}

void Watch::Watchdog::judge_now(bool expired) {
  double const waited = std::chrono::duration<double>(budget_.spent()).count();
  std::vector<Blame> blames = judge(look(), watch_.setup_.rank, expired);
  if (blames.empty() && expired && watch_.setup_.witness) blames = watch_.setup_.witness();
  if (blames.empty() && !expired) return;  // it had closed in the meantime
  Verdict const verdict = compose(blames, watch_.setup_.hosts, waited);
  if (expired && !watch_.setup_.limits.is_final) {
    if (!reported_) watch_.setup_.log->line(base::Level::warn, verdict.text);
    reported_ = true;
    return;
  }
  watch_.ledger_->pronounce(verdict);
  // Nothing can throw out of a blocking MPI call; then ending is all that is left.
  bool const in_mpi = watch_.waiting_->kind.load(std::memory_order_acquire) == WaitKind::in_mpi;
  if (watch_.setup_.on_lost == OnLost::exit || in_mpi) watch_.end(*watch_.ledger_);
}

}  // namespace berth::ledger
