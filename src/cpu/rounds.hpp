// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cpu/arithmetic.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/hosts.hpp>
#include <cpu/mail.hpp>
#include <cpu/slots.hpp>

namespace berth::cpu {

/// Operations of any size in which every rank has something for every other one, in rounds through
/// the slots of the ring.
///
/// In round b (block number g over the life of the communicator) a rank
///   1. waits for the others' marks taken > g - slots (acquire): they have read what its slot held;
///   2. copies its part of the round into its slot with plain stores and sets its mark
///      copied = g + 1 (release);
///   3. waits for the others' copied > g (acquire) and reads what is its own out of their slots;
///   4. sets its mark taken = g + 1 (release).
/// On one host it does 1 and 2 some rounds ahead.
///
/// Nothing is read early: the acquire load that sees copied > g synchronises with the release store
/// of 2, so the plain stores before it happen before the plain loads of 3. Nothing is overwritten
/// while it is read: the loads of 3 come before the release store of 4 in program order, which
/// keeps them before it; the owner's acquire load in 1 synchronises with that store, so they happen
/// before its next stores into the slot. Each mark has one writer and only grows, so a later value
/// says the same and more; no order between the marks of different ranks is needed, and no store
/// has to be seen before a later load. What earlier operations left in the own slots is waited for
/// before the first round (Slots), and nobody stores into the slots of another rank.
///
/// In place is safe: what a rank overwrites in round b it has published, sent or used in rounds up
/// to b, and rounds work on disjoint parts of the buffers.
///
/// With several hosts, what crosses them goes through a proxy: to host h with n ranks from (or for)
/// the local rank l of another host through local rank l % n. Hosts take turns in the order of
/// their distance, so no host is everybody's first. Why no set of ranks waits in a circle: give
/// every message the time (piece, distance), smaller first. Ranks send and receive in the order of
/// time; a rank that waits for a message, a free buffer or a mark waits for one whose time is not
/// later than its own, and of equal time there is one message per pair, for which the receiver has
/// a buffer in place.
class Rounds {
 public:
  Rounds(Context const& context, Arrivals& arrivals, Hosts& hosts, Mail const& mail, Slots& slots);

  // Each is called after Arrivals::enter(); buffers as coll::Backend says.

  void all_gather(void const* in, void* out);
  void reduce_scatter(void const* in, void* out);
  void all_to_all(void const* in, void* out);

 private:
  /// As many ranks of a host as this host has, from `first` on: local rank p is the proxy of
  /// first + p. They may be fewer.
  struct Group {
    int host = 0;
    int first = 0;
  };
  /// A range of elements of every part.
  struct Range {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  /// How one operation is cut: pieces of the parts, and of each piece the groups, some to a round.
  /// Pieces are the same on every host; rounds are the host's own business.
  struct Cut {
    std::size_t element = 0;   ///< bytes
    std::size_t part = 0;      ///< elements for (or of) each rank
    std::size_t piece = 0;     ///< elements
    std::size_t stride = 0;    ///< bytes between pieces in a slot
    std::uint64_t pieces = 0;  ///< at least one, so that all ranks meet
    std::size_t groups = 0;    ///< of each piece
    std::size_t groups_a_round = 1;
    std::uint64_t rounds_a_piece = 1;
    [[nodiscard]] std::uint64_t rounds() const { return pieces * rounds_a_piece; }
    [[nodiscard]] std::uint64_t piece_of(std::uint64_t round) const {
      return round / rounds_a_piece;
    }
    [[nodiscard]] std::size_t first_group(std::uint64_t round) const {
      return static_cast<std::size_t>(round % rounds_a_piece) * groups_a_round;
    }
    [[nodiscard]] std::size_t end_group(std::uint64_t round) const;
    [[nodiscard]] Range range(std::uint64_t piece) const;
    /// Bytes from the begin of a buffer to a range of a rank's part.
    [[nodiscard]] std::size_t offset(int rank, Range const& range) const {
      return (static_cast<std::size_t>(rank) * part + range.begin) * element;
    }
  };

  [[nodiscard]] Cut cut(std::size_t room, std::size_t room_a_group, std::size_t groups) const;
  [[nodiscard]] Arithmetic arithmetic() const {
    return {*context_.kernels, arrivals_.operation(), context_.topology.size()};
  }
  /// The rank of a group whose proxy is a local rank; -1 when there is none.
  [[nodiscard]] int rank_of(Group const& group, int local) const;
  /// The proxy of this rank on a host.
  [[nodiscard]] int proxy_on(int host) const;
  [[nodiscard]] std::byte* slot(int local, std::uint64_t round) const {
    return context_.segment.slot(local, slots_.next() + round);
  }

  /// Says that this rank is here, and returns when its slots are free.
  void arrive();
  /// Every rank of the host is in this operation; the leader knows it of all hosts.
  void meet();
  void await_room(std::uint64_t round);
  void await_copied(int local, std::uint64_t round);
  void mark_copied(std::uint64_t round) { set_mark(Mark::copied, round); }
  void mark_taken(std::uint64_t round) { set_mark(Mark::taken, round); }
  void set_mark(Mark which, std::uint64_t round) {
    context_.set_mark(which, slots_.next() + round + 1);
  }
  /// Waits until ready(), and meanwhile moves what travels between hosts.
  template <class Ready>
  void await(Ready&& ready, int peer);
  [[nodiscard]] bool can_move();
  void move();

  void publish_gathered(Cut const& cut, std::uint64_t round, void const* in, void* out);
  void take_gathered(Cut const& cut, std::uint64_t round, void* out);
  void send_own_piece();

  void publish_parts(Cut const& cut, std::vector<Group> const& groups, std::uint64_t round,
                     void const* in);
  void reduce_parts(Cut const& cut, std::uint64_t round, void const* in, void* out);
  void finish_piece(Cut const& cut, std::uint64_t piece, void* out);
  void keep_partial();

  void exchange_on_host(void const* in, void* out);
  void exchange_between_hosts(void const* in, void* out);

  Context const& context_;
  Arrivals& arrivals_;
  Hosts& hosts_;
  Mail const& mail_;
  Slots& slots_;
  Outbox outbox_;
  Inbox inbox_;
  std::uint64_t ahead_;  ///< rounds that are published before they are read
  int fullest_;          ///< ranks of the fullest host
  std::vector<Group> own_group_;
  std::vector<Group> groups_from_;    ///< the own one, then of the hosts whose messages come here
  std::vector<Group> groups_to_;      ///< of the hosts where messages go to, then the own one
  std::vector<int> gather_senders_;   ///< whose parts this rank publishes
  std::vector<int> gather_readers_;   ///< who publishes this rank's part elsewhere
  std::vector<int> partial_senders_;  ///< who sends the other hosts' partial results for this rank
  std::vector<int> partners_;         ///< all ranks of other hosts, in an order of meetings
  std::vector<void const*> sources_;

  // Of the operation under way.

  Cut const* cut_ = nullptr;
  void const* own_part_ = nullptr;  ///< of an all_gather, that is sent
  std::uint64_t pieces_sent_ = 0;
  std::uint64_t partial_limit_ = 0;  ///< messages that may be kept
  std::vector<std::byte> partials_;  ///< wide, of one piece, by host
  std::size_t partial_bytes_ = 0;
};

}  // namespace berth::cpu
