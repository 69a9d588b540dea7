// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <base/error.hpp>
#include <comm/call.hpp>

namespace berth::comm {

namespace {

using model::Collective;

/// Bytes of the two buffers of a call.
struct Extent {
  std::size_t in = 0;
  std::size_t out = 0;
};

void check_kind(Type type, Op op) {
  if (static_cast<int>(type) >= type_count) {
    base::fail(Errc::invalid_argument,
               fmt::format("element type {} does not exist", static_cast<unsigned>(type)));
  }
  if (static_cast<int>(op) >= op_count) {
    base::fail(Errc::invalid_argument,
               fmt::format("operation {} does not exist", static_cast<unsigned>(op)));
  }
}

void check_count(std::size_t count, Type type, std::size_t parts) {
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
  if (count > most / size_of(type) / parts) {
    base::fail(Errc::invalid_argument,
               parts == 1 ? fmt::format("{} elements do not fit in memory", count)
                          : fmt::format("{} elements for each of {} ranks do not fit in memory",
                                        count, parts));
  }
}

void check_root(Call const& call, int ranks) {
  if (model::has_root(call.collective) && (call.root < 0 || call.root >= ranks)) {
    base::fail(Errc::invalid_argument, fmt::format("root {} of {} ranks", call.root, ranks));
  }
}

Extent extent_of(Call const& call, int ranks) {
  std::size_t const bytes = call.count * size_of(call.type);
  std::size_t const all = bytes * static_cast<std::size_t>(ranks);
  return {model::has_in_parts(call.collective) ? all : bytes,
          model::has_out_parts(call.collective) ? all : bytes};
}

/// Where `in` must lie relative to `out` to count as in place.
std::uintptr_t in_place(Call const& call, std::uintptr_t out, int rank) {
  std::size_t const own = call.count * size_of(call.type) * static_cast<std::size_t>(rank);
  if (call.collective == Collective::all_gather) return out + own;
  if (call.collective == Collective::reduce_scatter) return out - own;
  return out;
}

}  // namespace

void check(Call const& call, int rank, int ranks) {
  check_kind(call.type, call.op);
  check_root(call, ranks);
  bool const has_parts =
      model::has_in_parts(call.collective) || model::has_out_parts(call.collective);
  check_count(call.count, call.type, has_parts ? static_cast<std::size_t>(ranks) : 1);
  if (call.count == 0 || call.collective == Collective::barrier) return;
  bool const needs_out = call.collective != Collective::reduce || call.root == rank;
  if (call.in == nullptr || (needs_out && call.out == nullptr)) {
    base::fail(Errc::invalid_argument, fmt::format("a null buffer for {} elements", call.count));
  }
  if (!needs_out || call.collective == Collective::broadcast) return;
  Extent const extent = extent_of(call, ranks);
  auto const from = reinterpret_cast<std::uintptr_t>(call.in);
  auto const to = reinterpret_cast<std::uintptr_t>(call.out);
  bool const apart = from + extent.in <= to || to + extent.out <= from;
  if (!apart && from != in_place(call, to, rank)) {
    base::fail(Errc::invalid_argument,
               "in and out overlap in part; they must be in place or apart");
  }
}

void check(coll::Message const& message, int ranks) {
  check_kind(message.type, Op::sum);
  check_count(message.count, message.type, 1);
  if (message.peer < 0 || message.peer >= ranks) {
    base::fail(Errc::invalid_argument, fmt::format("rank {} of {} ranks", message.peer, ranks));
  }
  void const* const buffer = message.is_send ? message.from : message.to;
  if (message.count > 0 && buffer == nullptr) {
    base::fail(Errc::invalid_argument, fmt::format("a null buffer for {} elements", message.count));
  }
}

std::vector<coll::Message> ring(Call const& call, int rank, int ranks) {
  return {{true, (rank + 1) % ranks, call.type, call.count, call.in, nullptr},
          {false, (rank + ranks - 1) % ranks, call.type, call.count, nullptr, call.out}};
}

void run(coll::Backend& on, model::Descriptor const& operation, Call const& call) {
  switch (call.collective) {
    case Collective::all_reduce:
      return on.all_reduce(operation, call.in, call.out);
    case Collective::reduce:
      return on.reduce(operation, call.in, call.out);
    case Collective::broadcast:
      return on.broadcast(operation, call.out);
    case Collective::all_gather:
      return on.all_gather(operation, call.in, call.out);
    case Collective::reduce_scatter:
      return on.reduce_scatter(operation, call.in, call.out);
    case Collective::all_to_all:
      return on.all_to_all(operation, call.in, call.out);
    case Collective::barrier:
      return on.barrier(operation);
    case Collective::send_recv:
    case Collective::none:
      break;
  }
  base::fail(Errc::internal, "no such collective");
}

}  // namespace berth::comm
