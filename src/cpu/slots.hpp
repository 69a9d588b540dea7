// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cpu/context.hpp>

namespace berth::cpu {

/// The numbering of ring blocks over the life of the communicator, and what earlier operations left
/// in the own slots. The same calls on all ranks of the host, but for pass_unread().
class Slots {
 public:
  explicit Slots(Context const& context) : context_(context) {}

  /// Number of the next operation's first block.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// An operation of so many blocks is over.
  void pass(std::uint64_t blocks) { next_ += blocks; }
  /// The same, when others may still read its blocks in the own slots; they mark what they have
  /// `taken`.
  void pass_unread(std::uint64_t blocks) {
    next_ += blocks;
    if (context_.local_size > 1) unread_end_ = next_;
  }
  /// Before an operation's first store into the own slots: waits until the others have taken what
  /// earlier operations left there.
  void free_own() {
    if (unread_end_ == 0) return;
    for (int local = 0; local < context_.local_size; ++local) {
      if (local != context_.local) context_.wait_mark(local, Mark::taken, unread_end_);
    }
    unread_end_ = 0;
  }

 private:
  Context const& context_;
  std::uint64_t next_ = 0;
  std::uint64_t unread_end_ = 0;  ///< 0: nothing is left
};

}  // namespace berth::cpu
