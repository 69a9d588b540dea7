// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// What a rank lets the others see of a communicator: a page of memory that any process of the job
/// can open, so that whoever is asked over RAS can answer for all, and nothing is left behind.
#pragma once

#include <atomic>
#include <cstdint>

#include "bootstrap.hpp"
#include "socket.hpp"

namespace standin {

enum class Kind : unsigned {
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  gather,
  scatter,
  send,
  receive
};
constexpr unsigned kinds = 10;

struct StatusPage {
  std::atomic<std::uint64_t> counts[kinds];  ///< launched operations of each Kind
  std::atomic<std::int32_t> init_state;
  std::atomic<std::int32_t> async_error;
  std::atomic<std::int32_t> finalized;
  std::atomic<std::int32_t> destroyed;
  std::atomic<std::int32_t> aborted;
};

/// A StatusPage, one's own or a peer's.
class Status {
 public:
  Status() = default;
  Status(Status&& other) noexcept;
  Status& operator=(Status&&) = delete;
  ~Status();

  void create();

  /// The page of a peer; without one when that process is gone.
  static Status of(Peer const& peer);

  int descriptor() const { return file_.get(); }
  StatusPage* page() const { return page_; }
  void close();

 private:
  void map();

  Descriptor file_;
  StatusPage* page_ = nullptr;
};

}  // namespace standin
