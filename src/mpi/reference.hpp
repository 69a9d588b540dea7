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
  /// Local. Both outlive this object. @throws Error mpi
  Reference(Comm const& comm, bool blocking, base::Patience& patience);
  ~Reference();
  Reference(Reference const&) = delete;
  Reference& operator=(Reference const&) = delete;

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

  [[nodiscard]] MPI_Op operation(Type type, Op op) const;

  /// Sums of bytes that wrap: Open MPI's own saturate where it uses AVX (seen with 4.1.4).
  MPI_Op add_int8_ = MPI_OP_NULL;
  MPI_Op add_uint8_ = MPI_OP_NULL;
  Comm const& comm_;
  base::Patience& patience_;
  bool blocking_;
};

}  // namespace berth::mpi
