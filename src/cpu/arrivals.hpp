// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cpu/context.hpp>
#include <model/descriptor.hpp>

namespace berth::cpu {

/// The flags of a host: who has entered which operation, with which descriptor.
///
/// The backend numbers its operations itself, from 1 and without gaps (32 bits, compared by signed
/// difference). Sequence s uses the lines and flat buffers of parity s % 2. The invariant that
/// makes two sets enough:
///
///   a rank writes its line or flat buffer for s only when it knows that every local rank has
///   entered s - 1, and therefore has left s - 2, the last operation that read this parity.
///
/// It holds because enter(s) waits for it: `known_entered_` says up to which operation everybody is
/// known to have entered. all_reduce and barrier raise it for free (nobody leaves them before
/// everybody has entered); after a broadcast enter() waits for the flags of s - 1. Those cannot be
/// overwritten meanwhile: s + 1 may not be written before this rank has entered s.
class Arrivals {
 public:
  explicit Arrivals(Context const& context) : context_(context) {}

  /// Starts the next operation; afterwards the own line and flat buffer may be written.
  void enter(model::Descriptor const& operation) {
    std::uint32_t const entering = sequence_ + 1;
    if (known_entered_ != sequence_) await_all();  // of the previous one, and compares it
    if (!is_same_call(operation)) call_hash_ = model::call_hash(operation);
    sequence_ = entering;
    operation_ = operation;
    expected_ = static_cast<std::uint64_t>(entering) << 32 |
                static_cast<std::uint32_t>(model::mix(operation.number ^ call_hash_));
  }

  /// Publishes everything written before, and that this rank has entered.
  void post() { own_line()->flag.store(expected_, std::memory_order_release); }
  /// As post(), with at most line_payload bytes beside the flag.
  void post(void const* payload, std::size_t bytes);

  /// Returns when the rank has posted this operation; its payload may then be read.
  /// @throws Error mismatch when it is in another operation, and what a wait throws
  void await(int local_rank) const {
    std::atomic<std::uint64_t> const& flag = context_.segment.line(local_rank, parity())->flag;
    std::uint64_t seen = 0;
    context_.wait(
        [&] {
          seen = flag.load(std::memory_order_acquire);
          return seen == expected_ || has_come(seen, expected_);
        },
        context_.rank_of(local_rank));
    if (seen != expected_) check(seen);
  }
  /// Every rank of the host has posted.
  void await_all() {
    // Every rank begins behind itself, so that not all of them read the same line at once.
    for (int local = context_.local + 1; local < context_.local_size; ++local) await(local);
    for (int local = 0; local < context_.local; ++local) await(local);
    known_entered_ = sequence_;
  }
  /// After await_all(), when nobody reads the line of the last operation any more: fetches it for
  /// the next one.
  void take_back_line() const {
    Line const* const next = context_.segment.line(context_.local, parity() ^ 1U);
    Context::take_back(reinterpret_cast<std::byte const*>(next), sizeof(Line));
  }
  /// For a rank that knows it from another one which has seen all.
  void all_have_entered() { known_entered_ = sequence_; }

  [[nodiscard]] unsigned parity() const { return sequence_ % 2; }
  [[nodiscard]] std::uint32_t sequence() const { return sequence_; }
  [[nodiscard]] std::uint32_t fingerprint() const { return static_cast<std::uint32_t>(expected_); }
  [[nodiscard]] model::Descriptor const& operation() const { return operation_; }
  /// The own flat buffer of this operation.
  [[nodiscard]] std::byte* own_flat() const {
    return context_.segment.flat(context_.local, parity());
  }

 private:
  [[nodiscard]] Line* own_line() const { return context_.segment.line(context_.local, parity()); }
  /// True when the flag says this operation or a later one; a different fingerprint is a mismatch.
  static bool has_come(std::uint64_t seen, std::uint64_t expected) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(seen >> 32) -
                                     static_cast<std::uint32_t>(expected >> 32)) >= 0;
  }
  [[nodiscard]] bool is_same_call(model::Descriptor const& operation) const {
    return operation.count == operation_.count && operation.root == operation_.root &&
           operation.collective == operation_.collective && operation.type == operation_.type &&
           operation.op == operation_.op && operation.backend == operation_.backend &&
           operation.form == operation_.form;
  }
  /// Reports a mismatch unless `seen` belongs to a later operation: its rank has left this one.
  void check(std::uint64_t seen) const;
  [[noreturn]] void report() const;

  Context const& context_;
  model::Descriptor operation_;
  std::uint64_t call_hash_ = model::call_hash({});
  std::uint64_t expected_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint32_t known_entered_ = 0;
};

}  // namespace berth::cpu
