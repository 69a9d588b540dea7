// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <new>
#include <utility>

#include <pthread.h>

#include <ledger/watchdog.hpp>

namespace berth::ledger {

namespace {

/// A blocking MPI call is probed from here on, and then this often.
constexpr base::nanoseconds probe_after = std::chrono::milliseconds(500);
constexpr base::nanoseconds probe_every = std::chrono::milliseconds(250);
constexpr int probe_divisor = 5;
/// The witness looks at processes, which costs a little.
constexpr base::nanoseconds question_every = std::chrono::milliseconds(250);
/// Who can name nobody here gives this much to another host whose watchdog can.
constexpr base::nanoseconds silence_margin = std::chrono::milliseconds(500);
constexpr int silence_divisor = 4;
constexpr int idle_ticks_before_sleep = 20;

/// A thread made in its scope inherits a mask of all signals: the program's handlers must not run
/// on the watchdog.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(SignalsHeld const&) = delete;
  SignalsHeld& operator=(SignalsHeld const&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Watch::Watchdog::Watchdog(Watch& watch)
    : watch_(watch), budget_(watch.setup_.limits.deadline, watch.setup_.tick_cap) {
  observe();
  SignalsHeld const held;
  thread_ = std::thread([this] { run(); });
}

Watch::Watchdog::~Watchdog() {
  {
    std::lock_guard const lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watch::Watchdog::observe() {
  Ledger const& ledger = *watch_.ledger_;
  peers_ = std::vector<Peer>(static_cast<std::size_t>(ledger.local_size()));
  for (int i = 0; i < ledger.local_size(); ++i) {
    Peer& peer = peers_[static_cast<std::size_t>(i)];
    Identity const& identity = ledger.record(i).identity;
    peer.is_visible = identity.pid_namespace == ledger.own().identity.pid_namespace;
    if (peer.is_visible && watch_.setup_.use_handles && i != ledger.self()) {
      peer.handle = sys::ProcessHandle(identity.pid, identity.start_time);
    }
  }
  restart();
}

void Watch::Watchdog::restart() {
  last_look_ = watch_.setup_.clock->now();
  last_probe_ = last_look_;
  last_question_ = last_look_;
  budget_ = base::TickBudget(watch_.setup_.limits.deadline, watch_.setup_.tick_cap);
  budget_.restart(last_look_);
  reported_ = false;
  for (Peer& peer : peers_) peer.silence = base::nanoseconds::zero();
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
    if (stop_ || !armed_.load(std::memory_order_acquire)) continue;
    try {
      examine();
    } catch (std::bad_alloc const&) {
      // Nothing was learnt in this tick; the next one tries again.
      continue;
    }
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
    Peer& peer = peers_[static_cast<std::size_t>(i)];
    std::uint64_t const beat = ledger.record(i).waiting.beat.load(std::memory_order_relaxed);
    peer.silence = beat == peer.beat ? peer.silence + passed : base::nanoseconds::zero();
    peer.beat = beat;
  }
}

bool Watch::Watchdog::somebody_ended() const {
  Ledger const& ledger = *watch_.ledger_;
  for (int i = 0; i < ledger.local_size(); ++i) {
    Peer const& peer = peers_[static_cast<std::size_t>(i)];
    if (i == ledger.self() || !peer.is_visible) continue;
    Record const& record = ledger.record(i);
    if (record.progress.phase.load(std::memory_order_acquire) >= Phase::closed) continue;
    bool const ended =
        watch_.setup_.use_handles
            ? peer.handle.ended()
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
    Peer const& peer = peers_[static_cast<std::size_t>(i)];
    sys::ProcessState const state =
        watch_.setup_.facts->state(record.identity.pid, record.identity.start_time);
    RankView view;
    view.rank = record.identity.rank;
    view.pid = record.identity.pid;
    view.alive = state.alive || !peer.is_visible;
    view.state = peer.is_visible ? state.state : '?';
    view.phase = record.progress.phase.load(std::memory_order_acquire);
    view.entered = record.progress.entered.load(std::memory_order_acquire);
    view.left = record.progress.left.load(std::memory_order_acquire);
    view.wait = record.waiting.kind.load(std::memory_order_acquire);
    view.peer = record.waiting.peer.load(std::memory_order_relaxed);
    view.beats = has_beat(peer);
    view.beat_known = view.wait == WaitKind::waiting ||
                      record.waiting.probed.load(std::memory_order_relaxed) != 0;
    if (auto const operation = ledger.recorded(i, view.entered)) {
      view.operation = describe(*operation);
    }
    views.push_back(std::move(view));
  }
  return views;
}

base::nanoseconds Watch::Watchdog::within_deadline(base::nanoseconds most, int divisor) const {
  base::nanoseconds const deadline = watch_.setup_.limits.deadline;
  return deadline > base::nanoseconds::zero() ? std::min(most, deadline / divisor) : most;
}

bool Watch::Watchdog::has_beat(Peer const& peer) const {
  // Most of the deadline, because a crowded machine may keep a rank from running for seconds.
  base::nanoseconds const deadline = watch_.setup_.limits.deadline;
  return deadline == base::nanoseconds::zero() || peer.silence < deadline * 3 / 4;
}

bool Watch::Watchdog::is_in_mpi() const {
  return watch_.waiting_->kind.load(std::memory_order_acquire) == WaitKind::in_mpi;
}

void Watch::Watchdog::note_progress(base::nanoseconds now) {
  std::uint64_t const generation = generation_.load(std::memory_order_relaxed);
  std::uint64_t const moved = moves();
  if (generation == seen_generation_ && moved == seen_moves_) return;
  seen_generation_ = generation;
  seen_moves_ = moved;
  reported_ = false;
  budget_.restart(now);
  for (Peer& peer : peers_) peer.silence = base::nanoseconds::zero();
}

bool Watch::Watchdog::is_unchanged() const {
  return armed_.load(std::memory_order_acquire) &&
         generation_.load(std::memory_order_relaxed) == seen_generation_ && moves() == seen_moves_;
}

void Watch::Watchdog::probe_own(base::nanoseconds now) {
  if (!watch_.setup_.probe || !is_in_mpi()) return;
  if (budget_.spent() < within_deadline(probe_after, probe_divisor)) return;
  if (now - last_probe_ < within_deadline(probe_every, probe_divisor)) return;
  last_probe_ = now;
  if (watch_.setup_.probe()) watch_.waiting_->beat.fetch_add(1, std::memory_order_relaxed);
}

void Watch::Watchdog::examine() {
  base::nanoseconds const now = watch_.setup_.clock->now();
  base::nanoseconds const passed = std::min(now - last_look_, watch_.setup_.tick_cap);
  last_look_ = now;
  note_beats(passed);
  note_progress(now);
  budget_.tick(now);
  probe_own(now);
  if (watch_.ledger_->has_verdict()) {
    end_if_needed();
  } else if (somebody_ended()) {
    judge_dead();
  } else if (asks_witness(now)) {
    std::vector<Blame> const ended = watch_.setup_.witness->look(false);
    if (!ended.empty()) pronounce(ended);
  } else if (budget_.expired() && !reported_) {
    judge_late(now);
  }
}

bool Watch::Watchdog::asks_witness(base::nanoseconds now) {
  if (watch_.setup_.witness == nullptr || budget_.expired()) return false;
  if (now - last_question_ < question_every) return false;
  last_question_ = now;
  return true;
}

void Watch::Watchdog::judge_dead() {
  std::vector<Blame> const blames = judge(look(), watch_.setup_.rank, false);
  if (!blames.empty()) pronounce(blames);  // else it had closed in the meantime
}

void Watch::Watchdog::judge_late(base::nanoseconds now) {
  if (somebody_is_debugged()) {
    budget_.restart(now);
    return;
  }
  std::vector<Blame> blames = judge(look(), watch_.setup_.rank, true);
  bool is_known = !blames.empty() && blames.front().kind != "silent";
  if (!is_known && watch_.setup_.witness != nullptr) {
    std::vector<Blame> missing = watch_.setup_.witness->look(true);
    is_known = !missing.empty();
    if (is_known) blames = std::move(missing);
  }
  base::nanoseconds const margin = within_deadline(silence_margin, silence_divisor);
  if (!is_known && budget_.spent() < watch_.setup_.limits.deadline + margin) return;
  // Whoever was waited for may have come while the others were looked at.
  if (!is_unchanged()) return;
  bool const is_dead = is_known && blames.front().kind == "dead";
  if (watch_.setup_.limits.is_final || is_dead) {
    pronounce(blames);
    return;
  }
  reported_ = true;
  if (!watch_.ledger_->claim_report(seen_moves_)) return;  // another rank of this host has
  double const waited = std::chrono::duration<double>(budget_.spent()).count();
  watch_.setup_.log->line(base::Level::warn, compose(blames, watch_.setup_.hosts, waited).text);
}

void Watch::Watchdog::pronounce(std::vector<Blame> const& blames) {
  double const waited = std::chrono::duration<double>(budget_.spent()).count();
  watch_.ledger_->pronounce(compose(blames, watch_.setup_.hosts, waited));
  end_if_needed();
}

void Watch::Watchdog::end_if_needed() {
  // Nothing can throw out of a blocking MPI call; then ending is all that is left.
  if (watch_.setup_.on_lost == OnLost::exit || is_in_mpi()) watch_.end();
}

}  // namespace berth::ledger
