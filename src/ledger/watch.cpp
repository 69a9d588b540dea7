// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <new>
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
/// How long ranks that do not speak wait for the one that does.
constexpr auto speech_limit = std::chrono::milliseconds(500);

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
  if (!watchdog_) watchdog_ = std::make_unique<Watchdog>(*this);
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
    if (watchdog_) watchdog_->reset();
  });
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
    if (watchdog_) watchdog_->reset();
  });
}

void Watch::set_witness(std::function<std::vector<Blame>()> witness) {
  exclusively([&] { setup_.witness = std::move(witness); });
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
  pauses_ = 0;
  waiting_->peer.store(peer, std::memory_order_relaxed);
  waiting_->kind.store(kind, std::memory_order_release);
  if (kind == WaitKind::waiting) ledger_->note_wait(true, setup_.clock->now());
  watchdog().arm();
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

void Watch::raise(Verdict const& verdict) {
  ledger_->pronounce(verdict);
  conclude();
}

void Watch::conclude() {
  if (setup_.on_lost == OnLost::exit) end(*ledger_);
  // Whoever began to write the verdict may have died in the middle; a second is plenty.
  for (int i = 0; i < 1000; ++i) {
    if (auto const verdict = ledger_->verdict()) {
      throw Error(verdict->code, verdict->rank, verdict->text);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw Error(Errc::lost, -1, "a rank was lost while it wrote down who was lost");
}

void Watch::end(Ledger const& ledger) {
  Verdict verdict{Errc::lost, -1, "dead", "a rank was lost while it wrote down who was lost"};
  for (int i = 0; i < 1000; ++i) {
    if (auto const written = ledger.verdict()) {
      verdict = *written;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ledger.claim_speech()) {
    base::write_stderr_line(fmt::format("berth: {}", verdict.text));
    if (setup_.before_end) setup_.before_end(verdict);
    ledger.spoken();
  } else {
    auto const step = std::chrono::milliseconds(5);
    for (auto waited = step; waited < speech_limit && !ledger.is_spoken(); waited += step) {
      std::this_thread::sleep_for(step);
    }
  }
  setup_.end(exit_code(verdict.code));
  // Only a test's `end` returns; the caller then throws as OnLost::raise would.
}

Watch::Awake::Awake(Watch& watch) : watch_(watch) {
  watch_.watchdog().keep_awake(1);
}

Watch::Awake::~Awake() {
  watch_.watchdog().keep_awake(-1);
}

}  // namespace berth::ledger
