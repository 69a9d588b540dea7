// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <coll/backend.hpp>
#include <cpu/context.hpp>
#include <cpu/mail.hpp>

namespace berth::cpu {

/// Sends and receives between pairs of ranks, of one host or of several.
///
/// Every message goes in pieces through own buffers. For each peer and direction there is a stream
/// of pieces with its own few buffers, and all streams move at the same time, each as fast as its
/// peer does. So a message waits only for those before it in the same stream, which match in the
/// order of the lists, and no set of matching messages can deadlock, whatever their order.
class Pairs {
 public:
  Pairs(Context const& context, Mail const& mail);

  /// As coll::Backend::exchange().
  void exchange(std::vector<coll::Message> const& messages);

 private:
  struct Parcel {
    Mail::Buffer buffer;
    Mail::Transfer transfer;
  };
  /// A piece of a message of a stream.
  struct Place {
    std::size_t message = 0;
    std::size_t begin = 0;  ///< bytes
  };
  /// All messages to or from one peer, in their order.
  struct Stream {
    int peer = -1;
    bool is_send = false;
    std::vector<coll::Message const*> messages;
    Place started;                                 ///< the next piece to start
    Place completed;                               ///< the next piece to complete
    std::vector<std::unique_ptr<Parcel>> parcels;  ///< under way, oldest first
    [[nodiscard]] bool is_done() const { return completed.message == messages.size(); }
  };

  [[nodiscard]] std::vector<Stream> streams_of(std::vector<coll::Message> const& messages) const;
  void copy_own(std::vector<coll::Message> const& messages) const;
  /// True when a stream can go on without waiting; makes progress.
  bool can_move(Stream& stream) const;
  /// Completes and starts what can be.
  void move(Stream& stream);
  void start(Stream& stream);
  void take(Stream const& stream, Parcel const& parcel);
  [[nodiscard]] std::size_t piece_at(coll::Message const& message, std::size_t begin) const;
  void advance(Stream const& stream, Place& place) const;
  [[nodiscard]] model::Descriptor descriptor(coll::Message const& message) const;
  [[noreturn]] void report(coll::Message const& own, model::Descriptor const& theirs) const;
  [[noreturn]] void raise(ledger::Verdict const& verdict, int peer) const;
  std::unique_ptr<Parcel> new_parcel();

  Context const& context_;
  Mail const& mail_;
  std::size_t piece_bytes_;
  std::vector<std::uint32_t> sent_;      ///< messages so far, by rank
  std::vector<std::uint32_t> received_;  ///< messages so far, by rank
  std::vector<std::unique_ptr<Parcel>> spare_;
};

}  // namespace berth::cpu
