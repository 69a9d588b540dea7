// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <optional>
#include <string>

#include <base/clock.hpp>
#include <berth/error.hpp>
#include <ledger/layout.hpp>

namespace berth::ledger {

/// A verdict as a value.
struct Verdict {
  Errc code = Errc::ok;
  int rank = -1;
  std::string kind;  ///< as Finding::kind: "dead", "stopped", "late", "silent", "mismatch", ...
  std::string text;  ///< one line: who, what, what to do
};

/// One rank's view of its host's ledger. Local; does not own the memory.
class Ledger {
 public:
  /// Bytes for a host with `local_size` ranks.
  static std::size_t bytes(int local_size);
  /// @param memory zeroed, 4096-aligned, at least bytes(local_size), outlives this object
  /// @param self this rank's index among the local ranks
  Ledger(std::byte* memory, int local_size, int self);
  /// Writes the header; the creator calls it once before any peer attaches.
  void format();
  /// Announces this rank; before the peers may look.
  void announce(int rank, int pid, std::uint64_t start_time);

  [[nodiscard]] int self() const { return self_; }
  [[nodiscard]] int local_size() const { return local_size_; }
  [[nodiscard]] Header& header() const { return *header_; }
  [[nodiscard]] Record& record(int local_rank) const { return records_[local_rank]; }
  [[nodiscard]] Record& own() const { return records_[self_]; }

  void set_phase(Phase phase) { own().progress.phase.store(phase, std::memory_order_release); }
  /// Begins an operation: writes the recorder, then publishes the number. About a dozen
  /// instructions, two cache lines that nobody else reads meanwhile.
  void enter(model::Descriptor const& operation) {
    Record& record = own();
    Recorded& entry = record.ring[operation.number % recorder_length];
    auto const words = std::bit_cast<std::array<std::uint64_t, 4>>(operation);
    for (std::size_t i = 0; i < words.size(); ++i) {
      // Release, so that who reads this word also sees which operation came before (recorded()).
      entry.descriptor[i].store(words[i], std::memory_order_release);
    }
    entry.waited_from_ns.store(0, std::memory_order_relaxed);
    entry.waited_to_ns.store(0, std::memory_order_relaxed);
    record.progress.entered.store(operation.number, std::memory_order_release);
  }
  /// Notes the time of a wait that outlasted its spin, in the operation last entered.
  void note_wait(bool begins, base::nanoseconds now) const;
  /// Ends it.
  void leave(std::uint64_t number) { own().progress.left.store(number, std::memory_order_release); }
  /// Tells the watchdogs that a long operation moves on (a block of a pipeline is done).
  void step() {
    std::atomic<std::uint64_t>& steps = own().progress.steps;
    steps.store(steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// A rank's recorded operation; absent when it is not or no longer in the ring.
  [[nodiscard]] std::optional<model::Descriptor> recorded(int local_rank,
                                                          std::uint64_t number) const;

  /// Makes this the verdict unless there is one; true when this call did. Afterwards verdict() is
  /// never empty. May be called by several threads of the process at once.
  bool pronounce(Verdict const& verdict) const;
  /// The verdict, when there is one.
  [[nodiscard]] std::optional<Verdict> verdict() const;
  /// True as soon as there is one. One relaxed load.
  [[nodiscard]] bool has_verdict() const {
    return header_->verdict.load(std::memory_order_relaxed) != 0;
  }

  /// True for the one caller on this host that is to report a late rank while the ranks' moves add
  /// up to `moves`.
  [[nodiscard]] bool claim_report(std::uint64_t moves) const;

  /// Who prints the verdict and how far that is.
  struct Speech {
    int speaker = -1;   ///< local rank; -1: nobody has claimed it
    bool said = false;  ///< the line is out
    bool done = false;  ///< and everything after it
  };
  /// True for the one caller on this host that is to print the verdict; it then calls said() after
  /// its line and spoken() at the end.
  [[nodiscard]] bool claim_speech() const;
  /// Claims it in place of a local rank that was lost before it had said anything; true for one.
  [[nodiscard]] bool take_over_speech(int from) const;
  void said() const;
  void spoken() const;
  [[nodiscard]] Speech speech() const;

 private:
  Header* header_;
  Record* records_;
  int local_size_;
  int self_;
};

}  // namespace berth::ledger
