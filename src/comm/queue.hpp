// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <base/patience.hpp>
#include <comm/call.hpp>
#include <mpi/comm.hpp>

namespace berth::comm {

/// Calls that have been asked for and not yet been made: those between group_start and group_end,
/// and those that were started ahead of their wait. Used by one thread.
class Queue {
 public:
  /// Makes one call, now; `form` is its descriptor's.
  using Make = std::function<void(Call const& call, std::uint64_t form)>;
  /// Makes sends and receives, now, together.
  using Exchange = std::function<void(std::vector<coll::Message> const& messages)>;
  /// All outlive this object.
  Queue(mpi::Comm const& comm, base::Patience& patience, Make make, Exchange exchange)
      : comm_(comm), patience_(patience), make_(std::move(make)), exchange_(std::move(exchange)) {}

  /// Groups nest; the outermost end makes what was asked for.
  void group_start() { ++depth_; }
  /// @throws Error invalid_argument without a group; what the calls throw
  void group_end();
  [[nodiscard]] bool is_grouping() const { return depth_ > 0; }
  void add(Call const& call) { calls_.push_back(call); }
  void add(coll::Message const& message) { messages_.push_back(message); }

  /// Starts a call ahead of its wait and returns its ticket. Local. @throws Error mpi
  std::uint64_t start(Call const& call);
  /// True once the call has been made. Makes those whose ranks have all started; never waits for a
  /// rank that has not. @throws Error what the calls throw
  bool test(std::uint64_t ticket);
  /// Makes all calls up to this one. @throws Error what the calls throw
  void wait(std::uint64_t ticket);
  /// Makes everything that was started: a later call must not overtake it.
  void drain() {
    if (!started_.empty()) wait(last_ticket_);
  }

 private:
  /// A call whose ranks tell each other that they have started it.
  struct Started {
    Call call;
    mpi::Request all_started;
    std::uint64_t ticket;
  };
  void make_front();
  void make_group();
  /// Calls as one, packed. @throws Error what the call throws
  void make_fused(std::span<Call const> calls);

  mpi::Comm const& comm_;
  base::Patience& patience_;
  Make make_;
  Exchange exchange_;
  int depth_ = 0;
  std::vector<Call> calls_;
  std::vector<coll::Message> messages_;
  std::deque<Started> started_;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace berth::comm
