// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <berth/error.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/lane.hpp>

namespace berth::cpu {

/// The way between hosts, as one rank sees it. Lane l joins the l-th ranks of all hosts; every lane
/// works on its own part of the data. Every message starts with a header that says which operation
/// it belongs to, and every receive has room for the longest message, so a rank of another host
/// that does something else is found, and not an MPI error. When a host fails, it says so to the
/// others in place of the message that they wait for.
///
/// Messages go from and into buffers of this object only; those that MPI still holds when a wait
/// has thrown are leaked on purpose.
class Hosts {
 public:
  Hosts(Context const& context, Arrivals const& arrivals);
  ~Hosts();
  Hosts(Hosts const&) = delete;
  Hosts& operator=(Hosts const&) = delete;

  [[nodiscard]] bool is_needed() const { return host_count_ > 1; }
  /// True when this rank has counterparts on all other hosts.
  [[nodiscard]] bool has_lane() const { return is_needed() && context_.local < lanes_; }
  [[nodiscard]] int lanes() const { return lanes_; }

  // All-reduce of a piece over the lane. Two pieces may be under way, in sets 0 and 1.

  /// Where the caller puts this host's part before start() and finds the result after finish().
  [[nodiscard]] std::byte* work(unsigned set) { return sets_[set].work.data() + header_bytes; }
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

  /// Bytes that one message can carry beside its header.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  static constexpr std::size_t header_bytes = 64;
  struct Header;
  struct Transfer {
    Lane::Ticket ticket = -1;
    int peer = -1;
    [[nodiscard]] bool is_open() const { return ticket >= 0; }
  };
  /// Memory that is given up instead of freed while transfers are open.
  class Buffer {
   public:
    void allocate(std::size_t bytes) { bytes_ = std::make_unique<std::byte[]>(bytes); }
    [[nodiscard]] std::byte* data() const { return bytes_.get(); }
    void leak() { static_cast<void>(bytes_.release()); }

   private:
    std::unique_ptr<std::byte[]> bytes_;
  };
  enum class Way { exchange, doubling, ring };
  struct Set {
    Buffer work;                   ///< header and payload
    Buffer send;                   ///< header and payload, for the ring
    std::vector<Buffer> received;  ///< header and payload
    std::vector<Transfer> sends;
    std::vector<Transfer> receives;
    std::size_t count = 0;
    std::uint32_t chunk = 0;
    Way way = Way::exchange;
  };

  [[nodiscard]] int counterpart(int host) const {
    return context_.topology.rank(host, context_.local);
  }
  [[nodiscard]] std::size_t element() const;
  [[nodiscard]] Way way_for(std::size_t count) const;
  Transfer send(std::byte* message, std::size_t bytes, int to, std::uint32_t chunk, int step);
  Transfer receive(Buffer const& into, int from);
  void complete(Transfer& transfer);
  void complete_all(std::vector<Transfer>& transfers);
  /// Compares the header of a received message. @throws Error mismatch
  std::byte* payload(Buffer const& message, int from, std::uint32_t chunk, int step) const;
  [[noreturn]] void report(Header const& header, int from) const;
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
  int host_count_;
  int lanes_;
  std::size_t capacity_;
  std::array<Set, 2> sets_;
  std::vector<void const*> sources_;
  int parent_ = -1;
  std::vector<int> children_;
  int open_ = 0;  ///< transfers that have not completed
};

}  // namespace berth::cpu
