// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/lane.hpp>
#include <model/descriptor.hpp>

namespace berth::cpu {

/// Messages between two ranks. Every message starts with a header that says which operation it
/// belongs to, and every receive has room for the longest message, so a rank that does something
/// else is found, and not an MPI error.
///
/// Messages go from and into Buffers only; those that MPI still holds when a wait has thrown are
/// leaked on purpose.
class Mail {
 public:
  static constexpr std::size_t header_bytes = 64;
  /// In front of every message.
  struct Header {
    std::uint32_t sequence = 0;
    std::uint32_t fingerprint = 0;
    std::uint32_t chunk = 0;  ///< number of the piece within the operation or message
    std::int32_t step = 0;    ///< of the algorithm
    model::Descriptor operation;
    std::uint64_t reserved[2] = {};
  };
  static_assert(sizeof(Header) == header_bytes);

  /// Room for one message. Its pages are touched only where a message lies.
  class Buffer {
   public:
    Buffer() = default;
    ~Buffer() {
      if (open_ > 0) static_cast<void>(memory_.release());
    }
    Buffer(Buffer&& other) noexcept
        : memory_(std::move(other.memory_)), open_(std::exchange(other.open_, 0)) {}
    Buffer(Buffer const&) = delete;
    Buffer& operator=(Buffer const&) = delete;
    Buffer& operator=(Buffer&&) = delete;
    /// Once, before it is used.
    void allocate(Mail const& mail) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(header_bytes + mail.capacity());
    }
    [[nodiscard]] bool is_allocated() const { return memory_ != nullptr; }
    /// Of the message, behind the header.
    [[nodiscard]] std::byte* payload() const { return memory_.get() + header_bytes; }

   private:
    friend class Mail;
    std::unique_ptr<std::byte[]> memory_;
    int open_ = 0;  ///< transfers that have not completed
  };

  /// A message under way; the buffer stays where it is until it has completed.
  struct Transfer {
    Lane::Ticket ticket = -1;
    int peer = -1;
    Buffer* buffer = nullptr;
    [[nodiscard]] bool is_open() const { return ticket >= 0; }
  };

  Mail(Context const& context, Arrivals const& arrivals);

  /// Bytes that one message can carry beside its header.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Writes the header of a message of the operation under way; it may then be sent to several.
  void seal(Buffer& message, std::uint32_t chunk, int step) const;
  /// The same with a header of the caller's own.
  static void seal(Buffer& message, Header const& header);
  /// Starts to send a sealed message with so many bytes of payload.
  Transfer send(Buffer& message, std::size_t bytes, int to) const;
  Transfer receive(Buffer& into, int from) const;
  /// True once it has completed; makes progress.
  bool test(Transfer& transfer) const;
  /// Waits until it has completed.
  void complete(Transfer& transfer) const;
  void complete_all(std::vector<Transfer>& transfers) const;
  static Header header(Buffer const& message);
  /// The payload of a message that has arrived and must be this one. @throws Error mismatch
  std::byte* open(Buffer const& message, int from, std::uint32_t chunk, int step) const;

 private:
  [[noreturn]] void report(Header const& header, int from) const;

  Context const& context_;
  Arrivals const& arrivals_;
  std::size_t capacity_;
};

/// Pieces that leave in order, a few at a time, each to one rank or to several.
class Outbox {
 public:
  Outbox(Mail const& mail, Context const& context) : mail_(mail), context_(context) {}

  /// True when a buffer is free for the next piece; makes progress.
  bool has_room();
  /// Where the next piece is to be put, after has_room().
  std::byte* room();
  void send(std::size_t bytes, std::vector<int> const& to, std::uint32_t chunk, int step);
  void send(std::size_t bytes, int to, std::uint32_t chunk, int step);
  /// A rank that has not taken its piece, for has_room().
  [[nodiscard]] int slowest() const;
  /// Waits until everybody has taken everything.
  void flush();

 private:
  static constexpr std::size_t depth = 4;
  struct Entry {
    Mail::Buffer buffer;
    std::vector<Mail::Transfer> transfers;
  };
  [[nodiscard]] Entry& entry() { return entries_[at_ % depth]; }

  Mail const& mail_;
  Context const& context_;
  Entry entries_[depth];
  std::size_t at_ = 0;
};

/// Pieces that come in order: piece after piece, of each the messages of a fixed list of senders.
class Inbox {
 public:
  explicit Inbox(Mail const& mail) : mail_(mail) {}

  /// Starts to receive `pieces` messages from each. Nothing of the last operation may be left.
  /// @param senders outlives the operation
  void begin(std::vector<int> const& senders, std::uint64_t pieces, int step);
  /// True when the next message has arrived; makes progress. Not when all have been read.
  bool has_mail();
  /// The next message's payload, after has_mail(). @throws Error mismatch
  std::byte const* front();
  /// Done with it.
  void pop();
  /// Messages that were read.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] bool is_done() const { return position_ == total_; }
  /// Sender of the next message; -1: none.
  [[nodiscard]] int sender() const { return is_done() ? -1 : sender_of(position_); }

 private:
  static constexpr std::uint64_t depth = 4;
  [[nodiscard]] int sender_of(std::uint64_t message) const {
    return (*senders_)[static_cast<std::size_t>(message % senders_->size())];
  }
  void start(std::uint64_t message);

  Mail const& mail_;
  std::vector<int> const* senders_ = nullptr;
  Mail::Buffer buffers_[depth];
  Mail::Transfer transfers_[depth];
  std::uint64_t position_ = 0;
  std::uint64_t total_ = 0;
  int step_ = 0;
};

}  // namespace berth::cpu
