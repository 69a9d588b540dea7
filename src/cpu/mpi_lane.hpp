// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <cpu/lane.hpp>
#include <mpi/comm.hpp>

namespace berth::cpu {

/// A Lane over MPI point-to-point. Pending transfers are leaked when it is destroyed.
class MpiLane final : public Lane {
 public:
  static constexpr int default_tag = 7001;

  /// @param comm outlives this object; no one else uses `tag` on it
  explicit MpiLane(mpi::Comm const& comm, int tag = default_tag) : comm_(comm), tag_(tag) {}
  Ticket send(int to, void const* data, std::size_t bytes) override;
  Ticket receive(int from, void* data, std::size_t bytes) override;
  bool test(Ticket ticket) override;
  void tell(int to, Error const& error) noexcept override;

 private:
  Ticket keep(mpi::Request request);

  mpi::Comm const& comm_;
  int tag_;
  std::vector<mpi::Request> requests_;  ///< by ticket
  std::vector<Ticket> free_;
};

}  // namespace berth::cpu
