// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <ledger/watch.hpp>
#include <ledger/watchdog.hpp>

namespace berth::ledger {

namespace {

/// A wait yields this often (some 10 ms on an idle machine) before it begins to nap.
constexpr std::uint64_t yields_before_naps = 20000;
constexpr auto nap = std::chrono::microseconds(50);
/// How long ranks that do not speak wait for the one that does, and how soon one that was lost
/// before its line is replaced.
constexpr auto speech_limit = std::chrono::milliseconds(500);
constexpr auto takeover_after = std::chrono::milliseconds(50);

std::byte* zeroed_memory(std::size_t bytes) {
  std::size_t const rounded = (bytes + 4095) / 4096 * 4096;
  void* memory = std::aligned_alloc(4096, rounded);
  if (memory == nullptr) base::fail(Errc::out_of_memory, "no memory for the ledger");
  std::memset(memory, 0, rounded);
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Watch::FreeMemory::operator()(std::byte* memory) const noexcept {
  std::free(memory);
}

Watch::Watch(WatchSetup setup)
    : setup_(std::move(setup)),
      private_memory_(zeroed_memory(Ledger::bytes(1))),
      private_ledger_(private_memory_.get(), 1, 0),
      ledger_(&private_ledger_) {
  private_ledger_.format();
  private_ledger_.announce(setup_.rank, sys::own_pid(), sys::own_start_time());
  waiting_ = &private_ledger_.own().waiting;
  if (!setup_.end) setup_.end = [](int code) { sys::end_process(code); };
}

Watch::~Watch() = default;

Watch::Watchdog& Watch::watchdog() {
  if (!watchdog_) {
    try {
      watchdog_ = std::make_unique<Watchdog>(*this);
    } catch (std::system_error const& error) {
      base::fail_errno("cannot start the watchdog thread", error.code().value());
    }
  }
  return *watchdog_;
}

void Watch::exclusively(std::function<void()> const& change) {
  if (watchdog_) {
    watchdog_->exclusively(change);
  } else {
    change();
  }
}

void Watch::attach(Ledger const& ledger) {
  exclusively([&] {
    ledger_ = &ledger;
    waiting_ = &ledger.own().waiting;
    waiting_->probed.store(setup_.probe ? 1 : 0, std::memory_order_relaxed);
    setup_.witness = nullptr;
    if (watchdog_) watchdog_->observe();
  });
}

void Watch::stand_down() {
  watchdog_.reset();
}

void Watch::set_rank(int rank) {
  exclusively([&] {
    setup_.rank = rank;
    private_ledger_.announce(rank, sys::own_pid(), sys::own_start_time());
  });
}

void Watch::set_hosts(std::vector<std::string> hosts) {
  exclusively([&] { setup_.hosts = std::move(hosts); });
}

void Watch::set_limits(Limits limits) {
  exclusively([&] {
    setup_.limits = limits;
    if (watchdog_) watchdog_->restart();
  });
}

void Watch::give_way() noexcept {
  std::this_thread::yield();
}

void Watch::relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void Watch::begin_long(WaitKind kind, int peer) {
  check();
  Watchdog& watchdog = this->watchdog();  // first: it may fail, and nothing is announced yet
  pauses_ = 0;
  waiting_->peer.store(peer, std::memory_order_relaxed);
  waiting_->kind.store(kind, std::memory_order_release);
  if (kind == WaitKind::waiting) ledger_->note_wait(true, setup_.clock->now());
  watchdog.arm();
}

void Watch::end_long() noexcept {
  if (waiting_->kind.load(std::memory_order_relaxed) == WaitKind::waiting) {
    ledger_->note_wait(false, setup_.clock->now());
  }
  waiting_->kind.store(WaitKind::none, std::memory_order_release);
  watchdog_->disarm();
}

void Watch::pause() {
  // The owner alone writes its beat, so a load and a store are enough.
  waiting_->beat.store(waiting_->beat.load(std::memory_order_relaxed) + 1,
                       std::memory_order_relaxed);
  if (ledger_->has_verdict()) conclude();
  if (setup_.progress) setup_.progress();
  if (++pauses_ < yields_before_naps) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(nap);
  }
}

void Watch::check() {
  if (ledger_->has_verdict()) conclude();
}

void Watch::pronounce(Verdict const& verdict) {
  ledger_->pronounce(verdict);
}

void Watch::raise(Verdict const& verdict) {
  pronounce(verdict);
  conclude();
}

bool Watch::is_reporter() {
  if (!is_reporter_) {
    Witness* const witness = setup_.witness;
    is_reporter_ = witness != nullptr ? witness->is_speaker() : ledger_->claim_speech();
    if (witness != nullptr && *is_reporter_) witness->spoken();
    if (witness != nullptr && !*is_reporter_) witness->wait_for_speaker();
  }
  return *is_reporter_;
}

void Watch::conclude() {
  if (setup_.on_lost == OnLost::exit) end();
  // Only a test's `end` returns.
  Verdict const verdict = ledger_->verdict().value();
  throw Error(verdict.code, verdict.rank, verdict.text, !is_reporter());
}

void Watch::end() {
  std::call_once(ended_, [this] {
    Verdict const verdict = ledger_->verdict().value();
    speak(verdict);
    setup_.end(exit_code(verdict.code));
  });
}

bool Watch::is_lost(int local_rank) const {
  Identity const& identity = ledger_->record(local_rank).identity;
  sys::ProcessState const state = setup_.facts->state(identity.pid, identity.start_time);
  return !state.alive || state.state == 'T' || state.state == 't';
}

void Watch::speak(Verdict const& verdict) {
  if (setup_.witness != nullptr) {
    if (!setup_.witness->is_speaker() && setup_.witness->wait_for_speaker()) return;
    print(verdict);
    setup_.witness->spoken();
    return;
  }
  if (ledger_->claim_speech()) {
    print(verdict);
    return;
  }
  // A launcher kills everybody once the first has ended: whoever speaks is given some time.
  auto const step = std::chrono::milliseconds(5);
  for (auto waited = step; waited < speech_limit; waited += step) {
    Ledger::Speech const speech = ledger_->speech();
    if (speech.done) return;
    if (waited >= takeover_after && is_lost(speech.speaker)) {
      if (speech.said) return;
      if (ledger_->take_over_speech(speech.speaker)) {
        print(verdict);
        return;
      }
    }
    std::this_thread::sleep_for(step);
  }
}

void Watch::print(Verdict const& verdict) {
  base::write_stderr_line(fmt::format("berth: {}", verdict.text));
  ledger_->said();
  try {
    if (setup_.before_end) setup_.before_end(verdict);
  } catch (...) {
    // What the tool could not write is lost; the process ends all the same.
  }
  ledger_->spoken();
}

Watch::Awake::Awake(Watch& watch) : watch_(watch) {
  watch_.watchdog().keep_awake(1);
}

Watch::Awake::~Awake() {
  watch_.watchdog().keep_awake(-1);
}

}  // namespace berth::ledger
