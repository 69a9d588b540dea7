// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <base/error.hpp>
#include <mpi/parcel.hpp>
#include <mpi/reference.hpp>

namespace berth::mpi {

namespace {

/// MPI counts are int; larger ones go in pieces.
constexpr std::size_t most_elements = std::size_t{1} << 30;
/// Pieces that are copied have at most so many bytes.
constexpr std::size_t most_copied = std::size_t{64} << 20;

MPI_Datatype datatype(Type type) {
  switch (type) {
    case Type::int8:
      return MPI_INT8_T;
    case Type::uint8:
      return MPI_UINT8_T;
    case Type::int32:
      return MPI_INT32_T;
    case Type::uint32:
      return MPI_UINT32_T;
    case Type::int64:
      return MPI_INT64_T;
    case Type::uint64:
      return MPI_UINT64_T;
    case Type::float32:
      return MPI_FLOAT;
    case Type::float64:
      return MPI_DOUBLE;
    case Type::float16:
    case Type::bfloat16:
      break;
  }
  base::fail(Errc::internal, "MPI has no such element type");
}

MPI_Op builtin(Op op) {
  switch (op) {
    case Op::sum:
      return MPI_SUM;
    case Op::prod:
      return MPI_PROD;
    case Op::min:
      return MPI_MIN;
    case Op::max:
      return MPI_MAX;
    case Op::avg:
      break;
  }
  base::fail(Errc::internal, "MPI has no such operation");
}

template <class Number>
void add(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  auto const* const from = static_cast<Number const*>(in);
  auto* const to = static_cast<Number*>(inout);
  for (int i = 0; i < *count; ++i) to[i] = static_cast<Number>(to[i] + from[i]);
}

std::byte* at(void* data, std::size_t offset) {
  return static_cast<std::byte*>(data) + offset;
}
std::byte const* at(void const* data, std::size_t offset) {
  return static_cast<std::byte const*>(data) + offset;
}

/// Part `from` of each of `rows` rows of `stride` bytes, one after the other.
void pack(std::byte* to, std::byte const* from, std::size_t rows, std::size_t stride,
          std::size_t bytes) {
  for (std::size_t row = 0; row < rows && bytes > 0; ++row)
    std::memcpy(to + row * bytes, from + row * stride, bytes);
}

void unpack(std::byte* to, std::byte const* from, std::size_t rows, std::size_t stride,
            std::size_t bytes) {
  for (std::size_t row = 0; row < rows && bytes > 0; ++row)
    std::memcpy(to + row * stride, from + row * bytes, bytes);
}

}  // namespace

Reference::Reference(Comm const& comm, bool blocking, base::Patience& patience)
    : comm_(comm), patience_(patience), blocking_(blocking) {
  check(PMPI_Op_create(&add<std::int8_t>, 1, &add_int8_), "MPI_Op_create");
  check(PMPI_Op_create(&add<std::uint8_t>, 1, &add_uint8_), "MPI_Op_create");
}

Reference::~Reference() {
  // Local. MPI frees what is left when it ends.
  if (!Session::is_active()) return;
  PMPI_Op_free(&add_int8_);
  PMPI_Op_free(&add_uint8_);
}

MPI_Op Reference::operation(Type type, Op op) const {
  if (op == Op::sum && type == Type::int8) return add_int8_;
  if (op == Op::sum && type == Type::uint8) return add_uint8_;
  return builtin(op);
}

std::size_t Reference::piece(std::size_t size, std::size_t rows) const {
  if (blocking_ && rows == 1) return most_elements;
  return std::max(most_copied / (size * rows), std::size_t{1});
}

void Reference::all_reduce(void const* in, void* out, std::size_t count, Type type, Op op) const {
  MPI_Datatype const element = datatype(type);
  std::size_t const size = size_of(type);
  std::size_t done = 0;
  do {
    std::size_t const elements = std::min(piece(size, 1), count - done);
    int const now = static_cast<int>(elements);
    std::byte const* const from = at(in, done * size);
    std::byte* const to = at(out, done * size);
    if (blocking_) {
      void const* const source = from == to ? MPI_IN_PLACE : from;
      check(PMPI_Allreduce(source, to, now, element, operation(type, op), comm_.handle()),
            "MPI_Allreduce");
    } else {
      // On a copy: when the wait ends with an error MPI still writes to the buffer, and the
      // caller's may be gone by then.
      Parcel parcel(elements * size);
      pack(parcel.data(), from, 1, 0, elements * size);
      MPI_Request started = MPI_REQUEST_NULL;
      check(PMPI_Iallreduce(MPI_IN_PLACE, parcel.data(), now, element, operation(type, op),
                            comm_.handle(), &started),
            "MPI_Iallreduce");
      parcel.deliver(Request(started), patience_);
      pack(to, parcel.data(), 1, 0, elements * size);
    }
    done += elements;
  } while (done < count);
}

void Reference::reduce(void const* in, void* out, std::size_t count, Type type, Op op,
                       int root) const {
  MPI_Datatype const element = datatype(type);
  std::size_t const size = size_of(type);
  bool const is_root = comm_.rank() == root;
  std::size_t done = 0;
  do {
    std::size_t const elements = std::min(piece(size, 1), count - done);
    std::size_t const bytes = elements * size;
    int const now = static_cast<int>(elements);
    std::byte const* const from = at(in, done * size);
    std::byte* const to = is_root ? at(out, done * size) : nullptr;
    if (blocking_) {
      void const* const source = from == to ? MPI_IN_PLACE : from;
      check(PMPI_Reduce(source, to, now, element, operation(type, op), root, comm_.handle()),
            "MPI_Reduce");
    } else {
      Parcel parcel(2 * bytes);
      pack(parcel.data(), from, 1, 0, bytes);
      MPI_Request started = MPI_REQUEST_NULL;
      check(PMPI_Ireduce(parcel.data(), parcel.data() + bytes, now, element, operation(type, op),
                         root, comm_.handle(), &started),
            "MPI_Ireduce");
      parcel.deliver(Request(started), patience_);
      if (is_root) pack(to, parcel.data() + bytes, 1, 0, bytes);
    }
    done += elements;
  } while (done < count);
}

void Reference::broadcast(void* data, std::size_t bytes, int root) const {
  std::size_t done = 0;
  do {
    std::size_t const now = std::min(piece(1, 1), bytes - done);
    if (blocking_) {
      check(PMPI_Bcast(at(data, done), static_cast<int>(now), MPI_BYTE, root, comm_.handle()),
            "MPI_Bcast");
    } else if (now > 0) {
      comm_.broadcast(at(data, done), now, root, patience_);
    }
    done += now;
  } while (done < bytes);
}

void Reference::all_gather(void const* in, void* out, std::size_t bytes) const {
  auto const rows = static_cast<std::size_t>(comm_.size());
  std::byte* const own = at(out, static_cast<std::size_t>(comm_.rank()) * bytes);
  if (blocking_ && bytes <= most_elements) {
    void const* const source = in == own ? MPI_IN_PLACE : in;
    check(PMPI_Allgather(source, static_cast<int>(bytes), MPI_BYTE, out, static_cast<int>(bytes),
                         MPI_BYTE, comm_.handle()),
          "MPI_Allgather");
    return;
  }
  std::size_t done = 0;
  do {
    std::size_t const now = std::min(piece(1, rows), bytes - done);
    Parcel parcel(now + rows * now);
    pack(parcel.data(), at(in, done), 1, 0, now);
    MPI_Request started = MPI_REQUEST_NULL;
    check(PMPI_Iallgather(parcel.data(), static_cast<int>(now), MPI_BYTE, parcel.data() + now,
                          static_cast<int>(now), MPI_BYTE, comm_.handle(), &started),
          "MPI_Iallgather");
    parcel.deliver(Request(started), patience_);
    unpack(at(out, done), parcel.data() + now, rows, bytes, now);
    done += now;
  } while (done < bytes);
}

void Reference::reduce_scatter(void const* in, void* out, std::size_t count, Type type,
                               Op op) const {
  auto const rows = static_cast<std::size_t>(comm_.size());
  std::size_t const size = size_of(type);
  MPI_Datatype const element = datatype(type);
  std::byte const* const own = at(in, static_cast<std::size_t>(comm_.rank()) * count * size);
  if (blocking_ && out != own && count <= most_elements) {
    check(PMPI_Reduce_scatter_block(in, out, static_cast<int>(count), element, operation(type, op),
                                    comm_.handle()),
          "MPI_Reduce_scatter_block");
    return;
  }
  std::size_t done = 0;
  do {
    std::size_t const now = std::min(piece(size, rows), count - done);
    Parcel parcel((rows + 1) * now * size);
    pack(parcel.data(), at(in, done * size), rows, count * size, now * size);
    std::byte* const result = parcel.data() + rows * now * size;
    MPI_Request started = MPI_REQUEST_NULL;
    check(PMPI_Ireduce_scatter_block(parcel.data(), result, static_cast<int>(now), element,
                                     operation(type, op), comm_.handle(), &started),
          "MPI_Ireduce_scatter_block");
    parcel.deliver(Request(started), patience_);
    pack(at(out, done * size), result, 1, 0, now * size);
    done += now;
  } while (done < count);
}

void Reference::all_to_all(void const* in, void* out, std::size_t bytes) const {
  auto const rows = static_cast<std::size_t>(comm_.size());
  if (blocking_ && bytes <= most_elements) {
    void const* const source = in == out ? MPI_IN_PLACE : in;
    check(PMPI_Alltoall(source, static_cast<int>(bytes), MPI_BYTE, out, static_cast<int>(bytes),
                        MPI_BYTE, comm_.handle()),
          "MPI_Alltoall");
    return;
  }
  std::size_t done = 0;
  do {
    std::size_t const now = std::min(piece(1, rows), bytes - done);
    Parcel parcel(2 * rows * now);
    pack(parcel.data(), at(in, done), rows, bytes, now);
    std::byte* const result = parcel.data() + rows * now;
    MPI_Request started = MPI_REQUEST_NULL;
    check(PMPI_Ialltoall(parcel.data(), static_cast<int>(now), MPI_BYTE, result,
                         static_cast<int>(now), MPI_BYTE, comm_.handle(), &started),
          "MPI_Ialltoall");
    parcel.deliver(Request(started), patience_);
    unpack(at(out, done), result, rows, bytes, now);
    done += now;
  } while (done < bytes);
}

void Reference::barrier() const {
  if (blocking_) {
    check(PMPI_Barrier(comm_.handle()), "MPI_Barrier");
  } else {
    comm_.barrier(patience_);
  }
}

}  // namespace berth::mpi
