// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <coll/backend.hpp>
#include <model/descriptor.hpp>

namespace berth::comm {

/// A collective as the user asked for it; buffers as coll::Backend has them.
struct Call {
  model::Collective collective = model::Collective::none;
  void const* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;
  Type type = Type::int32;
  Op op = Op::sum;
  int root = -1;
};

/// Refuses what no rank could do: unknown type, operation or root, null buffers, sizes that do not
/// fit in memory, buffers that overlap in part. Local.
/// @throws Error invalid_argument
void check(Call const& call, int rank, int ranks);
/// As above, for one half of a point-to-point transfer.
void check(coll::Message const& message, int ranks);

/// The messages of a send_recv: `in` goes to the next rank, `out` comes from the one before.
std::vector<coll::Message> ring(Call const& call, int rank, int ranks);

/// Runs a call, other than a send_recv, on a backend. @param operation its descriptor
void run(coll::Backend& on, model::Descriptor const& operation, Call const& call);

}  // namespace berth::comm
