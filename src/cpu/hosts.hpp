// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include <berth/error.hpp>
#include <cpu/arithmetic.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/mail.hpp>

namespace berth::cpu {

/// The way between hosts, as one rank sees it. Lane l joins the l-th ranks of all hosts; every lane
/// works on its own part of the data. When a host fails, it says so to the others in place of the
/// message that they wait for.
class Hosts {
 public:
  Hosts(Context const& context, Arrivals const& arrivals, Mail const& mail);
  Hosts(Hosts const&) = delete;
  Hosts& operator=(Hosts const&) = delete;

  [[nodiscard]] bool is_needed() const { return host_count_ > 1; }
  /// True when this rank has counterparts on all other hosts.
  [[nodiscard]] bool has_lane() const { return is_needed() && context_.local < lanes_; }
  [[nodiscard]] int lanes() const { return lanes_; }

  // All-reduce of a piece over the lane. Two pieces may be under way, in sets 0 and 1.

  /// Where the caller puts this host's part (wide, see Arithmetic) before start() and finds the
  /// result, of the operation's own type, after finish().
  [[nodiscard]] std::byte* work(unsigned set) { return sets_[set].work.payload(); }
  /// @param chunk number of the piece within the operation; the same on all hosts
  void start(unsigned set, std::size_t count, std::uint32_t chunk);
  void finish(unsigned set);

  // Broadcast. One rank of each host takes part: the root, and elsewhere local rank 0.

  /// Which rank of the own host takes part (its local index).
  [[nodiscard]] int representative(int root) const;
  /// Called by every local rank 0 before messages that a rank may wait to get rid of: returns when
  /// all hosts are known to be in this operation. Two ranks that both take themselves for the root
  /// would otherwise wait for each other. @throws Error mismatch
  void agree();
  /// Finds parent and children. @param is_chain true: one child each (for many pieces)
  void begin_broadcast(int root, bool is_chain);
  /// The root: where piece `chunk` is to be put; forward() then sends it to the children.
  std::byte* fill(std::uint32_t chunk);
  void forward(std::uint32_t chunk, std::size_t bytes);
  /// The others: starts to receive piece `chunk`; arrived() waits for it and returns its data,
  /// which stays until the next expect() of the same parity.
  void expect(std::uint32_t chunk);
  std::byte const* arrived(std::uint32_t chunk);
  /// Waits until the children have everything.
  void end_broadcast();

  /// Tells the other hosts that this communicator has failed here. Does not wait.
  void tell_failure(Error const& error) const noexcept;

 private:
  using Buffer = Mail::Buffer;
  using Transfer = Mail::Transfer;
  enum class Way { exchange, doubling, ring };
  struct Set {
    Buffer work;
    Buffer send;  ///< for the ring
    std::vector<Buffer> received;
    std::vector<Transfer> sends;
    std::vector<Transfer> receives;
    std::size_t count = 0;
    std::uint32_t chunk = 0;
    Way way = Way::exchange;
  };

  [[nodiscard]] int counterpart(int host) const {
    return context_.topology.rank(host, context_.local);
  }
  /// Bytes of an element that travels.
  [[nodiscard]] std::size_t element() const { return arithmetic().wide_bytes(); }
  [[nodiscard]] Way way_for(std::size_t count) const;
  [[nodiscard]] Arithmetic arithmetic() const {
    return {*context_.kernels, arrivals_.operation(), context_.topology.size()};
  }
  void reduce(void* out, void const* first, void const* second, std::size_t count) const;

  void start_exchange(Set& set);
  void finish_exchange(Set& set);
  /// Sends the work, receives the counterpart's message of step `answer` and returns its data.
  std::byte const* swap(Set& set, int host, int step, int answer);
  void double_up(Set& set);
  void start_step(Set& set, int step);
  void finish_step(Set& set, int step);
  [[nodiscard]] std::size_t part_begin(Set const& set, int part) const;

  Context const& context_;
  Arrivals const& arrivals_;
  Mail const& mail_;
  int host_count_;
  int lanes_;
  std::array<Set, 2> sets_;
  std::vector<void const*> sources_;
  int parent_ = -1;
  std::vector<int> children_;
};

}  // namespace berth::cpu
