// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <model/descriptor.hpp>

namespace berth::coll {

/// One half of a point-to-point transfer.
struct Message {
  bool is_send = false;
  int peer = -1;
  Type type = Type::float32;
  std::size_t count = 0;
  void const* from = nullptr;  ///< of a send; null only when count is 0
  void* to = nullptr;          ///< of a receive; null only when count is 0
};

/// What carries one communicator's collectives. Every call is collective and blocking; arguments
/// are checked before (comm); a difference between ranks is found here and thrown as
/// Errc::mismatch. Implemented by cpu and mpi; NCCL is a further one.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// `op.count` elements; in == out is allowed, other overlap is not; never null when count > 0.
  virtual void all_reduce(model::Descriptor const& op, void const* in, void* out) = 0;
  /// `out` is written on rank op.root alone and may be null elsewhere; in == out there: in place.
  virtual void reduce(model::Descriptor const& op, void const* in, void* out) = 0;
  virtual void broadcast(model::Descriptor const& op, void* buffer) = 0;
  /// `in` holds op.count elements, `out` op.count of each rank, by rank. In place: `in` is the own
  /// part of `out`.
  virtual void all_gather(model::Descriptor const& op, void const* in, void* out) = 0;
  /// `in` holds op.count elements for each rank, `out` the op.count reduced ones of this rank. In
  /// place: `out` is the own part of `in`.
  virtual void reduce_scatter(model::Descriptor const& op, void const* in, void* out) = 0;
  /// Both hold op.count elements for each rank; part r of `in` goes to rank r, part r of `out`
  /// comes from rank r. in == out: in place.
  virtual void all_to_all(model::Descriptor const& op, void const* in, void* out) = 0;
  /// Sends and receives that start together and are all complete on return; between two ranks they
  /// match in the order of the lists. A rank may send to itself.
  /// @throws Error mismatch when count or type of a pair differ
  virtual void exchange(std::vector<Message> const& messages) = 0;
  virtual void barrier(model::Descriptor const& op) = 0;
};

}  // namespace berth::coll
