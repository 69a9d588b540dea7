// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <model/descriptor.hpp>

namespace berth::coll {

/// What carries one communicator's collectives. Every call is collective and blocking; arguments
/// are checked before (comm); a difference between ranks is found here and thrown as
/// Errc::mismatch. Implemented by cpu and mpi; NCCL is a further one.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// `op.count` elements; in == out is allowed, other overlap is not; never null when count > 0.
  virtual void all_reduce(model::Descriptor const& op, void const* in, void* out) = 0;
  virtual void broadcast(model::Descriptor const& op, void* buffer) = 0;
  virtual void barrier(model::Descriptor const& op) = 0;
};

}  // namespace berth::coll
