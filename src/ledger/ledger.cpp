// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>

#include <base/error.hpp>
#include <ledger/ledger.hpp>

namespace berth::ledger {

namespace {

constexpr std::uint64_t ledger_magic = 0x6265727468'6c6567;  // "berthleg"
constexpr std::uint32_t layout_version = 1;

constexpr std::size_t record_offset = (sizeof(Header) + 4095) / 4096 * 4096;

}  // namespace

char const* phase_name(Phase phase) noexcept {
  switch (phase) {
    case Phase::none:
      return "none";
    case Phase::roll_call:
      return "roll-call";
    case Phase::plan:
      return "plan";
    case Phase::bind:
      return "bind";
    case Phase::connect:
      return "connect";
    case Phase::data:
      return "data";
    case Phase::running:
      return "running";
    case Phase::verify:
      return "verify";
    case Phase::bench:
      return "bench";
    case Phase::closing:
      return "closing";
    case Phase::closed:
      return "closed";
    case Phase::aborted:
      return "aborted";
  }
  return "unknown";
}

std::size_t Ledger::bytes(int local_size) {
  return record_offset + static_cast<std::size_t>(local_size) * sizeof(Record);
}

Ledger::Ledger(std::byte* memory, int local_size, int self)
    : header_(std::launder(reinterpret_cast<Header*>(memory))),
      records_(std::launder(reinterpret_cast<Record*>(memory + record_offset))),
      local_size_(local_size),
      self_(self) {}

void Ledger::format() {
  // The segment is zeroed; objects are made in place so that their defaults (-1) hold.
  new (header_) Header;
  header_->magic = ledger_magic;
  header_->layout = layout_version;
  header_->local_size = static_cast<std::uint32_t>(local_size_);
  for (int i = 0; i < local_size_; ++i) new (&records_[i]) Record;
}

void Ledger::announce(int rank, int pid, std::uint64_t start_time) {
  if (header_->magic != ledger_magic || header_->layout != layout_version ||
      header_->local_size != static_cast<std::uint32_t>(local_size_)) {
    base::fail(Errc::internal, "the ledger's segment has another layout: mixed versions of Berth?");
  }
  own().identity = {rank, pid, start_time};
}

std::optional<model::Descriptor> Ledger::recorded(int local_rank, std::uint64_t number) const {
  Record const& of = record(local_rank);
  std::uint64_t const entered = of.progress.entered.load(std::memory_order_acquire);
  if (number == 0 || number > entered || entered - number >= recorder_length) return {};
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = of.ring[number % recorder_length].descriptor[i].load(std::memory_order_relaxed);
  }
  // The owner may have gone once round meanwhile; then the words are another operation's.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (of.progress.entered.load(std::memory_order_relaxed) - number >= recorder_length - 1)
    return {};
  auto const found = std::bit_cast<model::Descriptor>(words);
  if (found.number != number) return {};
  return found;
}

void Ledger::note_wait(bool begins, base::nanoseconds now) const {
  Record& record = own();
  std::uint64_t const number = record.progress.entered.load(std::memory_order_relaxed);
  Recorded& entry = record.ring[number % recorder_length];
  auto const time = static_cast<std::uint64_t>(now.count());
  if (!begins) {
    entry.waited_to_ns.store(time, std::memory_order_relaxed);
  } else if (entry.waited_from_ns.load(std::memory_order_relaxed) == 0) {
    entry.waited_from_ns.store(time, std::memory_order_relaxed);
  }
}

bool Ledger::pronounce(Verdict const& verdict) const {
  SharedVerdict& shared = header_->verdict;
  VerdictState expected = VerdictState::none;
  if (!shared.state.compare_exchange_strong(expected, VerdictState::writing,
                                            std::memory_order_acq_rel)) {
    return false;
  }
  shared.code = static_cast<std::int32_t>(verdict.code);
  shared.rank = verdict.rank;
  std::strncpy(shared.kind, verdict.kind.c_str(), sizeof shared.kind - 1);
  std::strncpy(shared.text, verdict.text.c_str(), sizeof shared.text - 1);
  shared.state.store(VerdictState::written, std::memory_order_release);
  return true;
}

std::optional<Verdict> Ledger::verdict() const {
  SharedVerdict const& shared = header_->verdict;
  if (shared.state.load(std::memory_order_acquire) != VerdictState::written) return {};
  return Verdict{static_cast<Errc>(shared.code), shared.rank, shared.kind, shared.text};
}

bool Ledger::claim_speech() const {
  std::uint32_t expected = 0;
  return header_->speaker.compare_exchange_strong(expected, 1, std::memory_order_acq_rel);
}

void Ledger::spoken() const {
  header_->speaker.store(2, std::memory_order_release);
}

bool Ledger::is_spoken() const {
  return header_->speaker.load(std::memory_order_acquire) == 2;
}

}  // namespace berth::ledger
