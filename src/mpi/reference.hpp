// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <base/patience.hpp>
#include <berth/types.hpp>
#include <mpi/comm.hpp>

namespace berth::mpi {

/// MPI's own collectives, the naive reference. `blocking`: plain MPI_Allreduce and so on, nothing
/// bounded; else the nonblocking forms under a patience, on copies that outlive a failed wait.
/// Buffers are as coll::Backend says, in place included; 16-bit floats and averages are the
/// caller's business, because MPI has neither. Counts that MPI's int cannot hold go in pieces.
/// Collective. @throws Error mpi, lost, timeout, out_of_memory
class Reference {
 public:
  /// Both outlive this object.
  Reference(Comm const& comm, bool blocking, base::Patience& patience)
      : comm_(comm), patience_(patience), blocking_(blocking) {}

  void all_reduce(void const* in, void* out, std::size_t count, Type type, Op op) const;
  /// `out` is used at `root` alone.
  void reduce(void const* in, void* out, std::size_t count, Type type, Op op, int root) const;
  void broadcast(void* data, std::size_t bytes, int root) const;
  /// @param bytes of one rank
  void all_gather(void const* in, void* out, std::size_t bytes) const;
  void reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op) const;
  /// @param bytes between two ranks
  void all_to_all(void const* in, void* out, std::size_t bytes) const;
  void barrier() const;

 private:
  /// Elements that a piece may have when a rank's buffers hold `rows` of them, `size` bytes each.
  [[nodiscard]] std::size_t piece(std::size_t size, std::size_t rows) const;

  Comm const& comm_;
  base::Patience& patience_;
  bool blocking_;
};

}  // namespace berth::mpi
