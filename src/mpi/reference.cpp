// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>

#include <base/error.hpp>
#include <mpi/comm.hpp>
#include <mpi/parcel.hpp>

namespace berth::mpi {

namespace {

/// MPI counts are int; larger ones go in pieces of 2^30 elements.
constexpr std::size_t piece = std::size_t{1} << 30;
/// Nonblocking pieces are copied: 8 Mi elements at a time.
constexpr std::size_t copied_piece = std::size_t{1} << 23;

MPI_Datatype datatype(Type type) {
  switch (type) {
    case Type::int32:
      return MPI_INT32_T;
    case Type::int64:
      return MPI_INT64_T;
    case Type::float32:
      return MPI_FLOAT;
    case Type::float64:
      return MPI_DOUBLE;
  }
  base::fail(Errc::invalid_argument, "unknown element type");
}

MPI_Op operation(Op op) {
  switch (op) {
    case Op::sum:
      return MPI_SUM;
    case Op::prod:
      return MPI_PROD;
    case Op::min:
      return MPI_MIN;
    case Op::max:
      return MPI_MAX;
  }
  base::fail(Errc::invalid_argument, "unknown operation");
}

}  // namespace

void Comm::reference_all_reduce(void const* in, void* out, std::size_t count, Type type, Op op,
                                bool blocking, base::Patience& patience) const {
  MPI_Datatype const element = datatype(type);
  MPI_Op const how = operation(op);
  std::size_t done = 0;
  do {
    std::size_t const elements = std::min(blocking ? piece : copied_piece, count - done);
    int const now = static_cast<int>(elements);
    std::size_t const bytes = elements * size_of(type);
    auto const* from = static_cast<char const*>(in) + done * size_of(type);
    auto* to = static_cast<char*>(out) + done * size_of(type);
    if (blocking) {
      void const* source = from == to ? MPI_IN_PLACE : from;
      check(PMPI_Allreduce(source, to, now, element, how, handle_), "MPI_Allreduce");
    } else {
      // On a copy: when the wait ends with an error MPI still writes to the buffer, and the
      // caller's may be gone by then.
      Parcel parcel(bytes);
      if (bytes > 0) std::memcpy(parcel.data(), from, bytes);
      MPI_Request started = MPI_REQUEST_NULL;
      check(PMPI_Iallreduce(MPI_IN_PLACE, parcel.data(), now, element, how, handle_, &started),
            "MPI_Iallreduce");
      parcel.deliver(Request(started), patience);
      if (bytes > 0) std::memcpy(to, parcel.data(), bytes);
    }
    done += elements;
  } while (done < count);
}

void Comm::reference_broadcast(void* data, std::size_t count, Type type, int root, bool blocking,
                               base::Patience& patience) const {
  MPI_Datatype const element = datatype(type);
  std::size_t done = 0;
  do {
    std::size_t const elements = std::min(blocking ? piece : copied_piece, count - done);
    auto* where = static_cast<std::byte*>(data) + done * size_of(type);
    if (blocking) {
      check(PMPI_Bcast(where, static_cast<int>(elements), element, root, handle_), "MPI_Bcast");
    } else if (elements > 0) {
      broadcast(where, elements * size_of(type), root, patience);
    }
    done += elements;
  } while (done < count);
}

void Comm::reference_barrier(bool blocking, base::Patience& patience) const {
  if (blocking) {
    check(PMPI_Barrier(handle_), "MPI_Barrier");
  } else {
    barrier(patience);
  }
}

}  // namespace berth::mpi
