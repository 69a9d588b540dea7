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
///   a rank writes lines or flat buffer for s only when it knows that every local rank has entered
///   s - 1, and therefore has left s - 2, the last operation that read this parity.
///
/// It holds because enter(s) waits for it: `known_entered_` says up to which operation everybody is
/// known to have entered. all_reduce and barrier raise it for free (nobody leaves them before
/// everybody has entered); after a broadcast enter() looks at the flags of s - 1. Those cannot be
/// overwritten meanwhile: s + 1 may not be written before this rank has entered s.
class Arrivals {
 public:
  explicit Arrivals(Context const& context) : context_(context) {}

  /// Starts the next operation; afterwards the own lines and flat buffer may be written.
  void enter(model::Descriptor const& operation) {
    std::uint32_t const entering = sequence_ + 1;
    if (known_entered_ != sequence_) await_previous();
    sequence_ = entering;
    operation_ = operation;
    expected_ = static_cast<std::uint64_t>(entering) << 32 | model::fingerprint(operation);
  }

  /// Publishes everything written before, and that this rank has entered.
  void post() {
    own_lines()->flag.store(expected_, std::memory_order_release);
    own_next();
  }
  /// As post(), with `bytes` of payload in as many lines as it takes.
  void post(void const* payload, std::size_t bytes);

  /// Returns when the rank has posted this operation; its payload may then be read.
  /// @throws Error mismatch when it is in another operation, and what a wait throws
  void await(int local_rank) const {
    await_flag(context_.segment.lines(local_rank, parity())->flag, local_rank);
  }
  /// As await(), for a line behind the first, which has been awaited.
  void await_line(int local_rank, std::size_t line) const {
    await_flag(context_.segment.lines(local_rank, parity())[line].flag, local_rank);
  }
  /// Every rank of the host has posted.
  void await_all() {
    for (int other = 1; other < context_.local_size; ++other) {
      await((context_.local + other) % context_.local_size);
    }
    known_entered_ = sequence_;
  }
  /// For a rank that knows it from another one which has seen all.
  void all_have_entered() { known_entered_ = sequence_; }

  [[nodiscard]] unsigned parity() const { return sequence_ % 2; }
  [[nodiscard]] std::uint32_t sequence() const { return sequence_; }
  [[nodiscard]] std::uint32_t fingerprint() const { return static_cast<std::uint32_t>(expected_); }
  [[nodiscard]] model::Descriptor const& operation() const { return operation_; }
  /// Bytes of the own flat buffer's use are up to the caller; valid after enter().
  [[nodiscard]] std::byte* own_flat() const {
    return context_.segment.flat(context_.local, parity());
  }

 private:
  [[nodiscard]] Line* own_lines() const { return context_.segment.lines(context_.local, parity()); }
  /// True when the flag says this operation or a later one; a different fingerprint is a mismatch.
  static bool has_come(std::uint64_t seen, std::uint64_t expected) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(seen >> 32) -
                                     static_cast<std::uint32_t>(expected >> 32)) >= 0;
  }
  void await_flag(std::atomic<std::uint64_t> const& flag, int local_rank) const {
    std::uint64_t seen = 0;
    context_.wait(
        [&] {
          seen = flag.load(std::memory_order_acquire);
          return seen == expected_ || has_come(seen, expected_);
        },
        context_.rank_of(local_rank));
    if (seen != expected_) check(seen);
  }
  /// Fetches the own line of the next operation for writing while this one waits anyway.
  void own_next() const {
#if defined(__x86_64__)
    Line const* const next = context_.segment.lines(context_.local, parity() ^ 1U);
    asm volatile("prefetchw %0" : : "m"(*next));
#endif
  }
  void await_previous();
  /// Reports a mismatch unless `seen` belongs to a later operation: its rank has left this one.
  void check(std::uint64_t seen) const;
  [[noreturn]] void report() const;

  Context const& context_;
  model::Descriptor operation_;
  std::uint64_t expected_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint32_t known_entered_ = 0;
};

}  // namespace berth::cpu
