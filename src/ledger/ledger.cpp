// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <thread>

#include <base/error.hpp>
#include <base/text.hpp>
#include <ledger/ledger.hpp>
#include <sys/process.hpp>

namespace berth::ledger {

namespace {

constexpr std::uint64_t ledger_magic = 0x6265727468'6c6567;  // "berthleg"
constexpr std::uint32_t layout_version = 2;

constexpr std::size_t record_offset = (sizeof(Header) + 4095) / 4096 * 4096;

// Header::speaker.
constexpr std::uint32_t speech_steps = 4;
constexpr std::uint32_t speech_said = 1;
constexpr std::uint32_t speech_done = 2;

constexpr std::uint32_t speaking(int local_rank) {
  return (static_cast<std::uint32_t>(local_rank) + 1) * speech_steps;
}

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
  own().identity = {rank, pid, start_time, sys::own_pid_namespace()};
}

std::optional<model::Descriptor> Ledger::recorded(int local_rank, std::uint64_t number) const {
  Record const& of = record(local_rank);
  std::uint64_t const entered = of.progress.entered.load(std::memory_order_acquire);
  if (number == 0 || number > entered || entered - number >= recorder_length) return {};
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = of.ring[number % recorder_length].descriptor[i].load(std::memory_order_acquire);
  }
  // The owner may have gone once round meanwhile. A word of its later operation was stored after
  // the number of the one before it had been published, which is therefore seen here.
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
  std::string const text = base::printable(verdict.text, sizeof Proposal::text - 1);
  std::atomic<std::uint32_t>& shared = header_->verdict;
  if (shared.load(std::memory_order_acquire) != 0) return false;
  Proposal& proposal = own().proposal;
  if (proposal.taken.exchange(1, std::memory_order_acq_rel) != 0) {
    // Another thread of this process is between these lines; it cannot be lost without us.
    while (shared.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    return false;
  }
  proposal.code = static_cast<std::int32_t>(verdict.code);
  proposal.rank = verdict.rank;
  verdict.kind.copy(proposal.kind, sizeof proposal.kind - 1);
  text.copy(proposal.text, sizeof proposal.text - 1);
  std::uint32_t expected = 0;
  return shared.compare_exchange_strong(expected, static_cast<std::uint32_t>(self_) + 1,
                                        std::memory_order_acq_rel, std::memory_order_acquire);
}

std::optional<Verdict> Ledger::verdict() const {
  std::uint32_t const found = header_->verdict.load(std::memory_order_acquire);
  if (found == 0) return {};
  Proposal const& proposal = record(static_cast<int>(found) - 1).proposal;
  return Verdict{static_cast<Errc>(proposal.code), proposal.rank, proposal.kind, proposal.text};
}

bool Ledger::claim_report(std::uint64_t moves) const {
  std::uint64_t seen = header_->reported.load(std::memory_order_relaxed);
  return seen != moves + 1 &&
         header_->reported.compare_exchange_strong(seen, moves + 1, std::memory_order_relaxed);
}

bool Ledger::claim_speech() const {
  std::uint32_t expected = 0;
  return header_->speaker.compare_exchange_strong(expected, speaking(self_),
                                                  std::memory_order_acq_rel);
}

bool Ledger::take_over_speech(int from) const {
  std::uint32_t expected = speaking(from);
  return header_->speaker.compare_exchange_strong(expected, speaking(self_),
                                                  std::memory_order_acq_rel);
}

void Ledger::said() const {
  header_->speaker.store(speaking(self_) + speech_said, std::memory_order_release);
}

void Ledger::spoken() const {
  header_->speaker.store(speaking(self_) + speech_done, std::memory_order_release);
}

Ledger::Speech Ledger::speech() const {
  std::uint32_t const word = header_->speaker.load(std::memory_order_acquire);
  if (word == 0) return {};
  std::uint32_t const step = word % speech_steps;
  return {static_cast<int>(word / speech_steps) - 1, step >= speech_said, step == speech_done};
}

}  // namespace berth::ledger
