// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <berth/error.hpp>

namespace berth::cpu {

/// Messages between ranks of different hosts. Messages between two ranks arrive in the order in
/// which they were sent and match receives in the order in which those were started.
/// Used by one thread.
class Lane {
 public:
  /// A started transfer; its buffer belongs to the lane until test() has returned true.
  using Ticket = int;
  virtual ~Lane() = default;
  /// Starts to send. @throws Error mpi
  virtual Ticket send(int to, void const* data, std::size_t bytes) = 0;
  /// Starts to receive a message of at most `bytes`. @throws Error mpi
  virtual Ticket receive(int from, void* data, std::size_t bytes) = 0;
  /// True once the transfer is complete; the ticket is then free. Makes progress.
  /// @throws Error mpi
  virtual bool test(Ticket ticket) = 0;
  /// Tells a rank out of band that the communicator has failed here; its waits then end with this
  /// error. Never waits, never throws.
  virtual void tell(int to, Error const& error) noexcept = 0;
};

}  // namespace berth::cpu
