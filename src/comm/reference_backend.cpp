// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <comm/reference_backend.hpp>
#include <cpu/mismatch.hpp>

namespace berth::comm {

ReferenceBackend::ReferenceBackend(mpi::Comm const& comm, ledger::Watch& watch)
    : comm_(comm), watch_(watch), blocking_(watch.on_lost() == OnLost::exit) {}

void ReferenceBackend::compare(model::Descriptor const& op) {
  if (comm_.is_same(model::fingerprint(op), watch_)) return;
  std::vector<model::Descriptor> all(static_cast<std::size_t>(comm_.size()));
  comm_.all_gather(&op, sizeof op, all.data(), watch_);
  auto const like = [&](std::size_t rank) {
    return std::count_if(all.begin(), all.end(), [&](model::Descriptor const& other) {
      return model::fingerprint(other) == model::fingerprint(all[rank]);
    });
  };
  // The smallest party strays; of equal ones that without rank 0.
  std::size_t stray = 0;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    bool const differs = model::fingerprint(all[rank]) != model::fingerprint(all[stray]);
    if (differs && (like(rank) < like(stray) || (like(rank) == like(stray) && stray == 0))) {
      stray = rank;
    }
  }
  std::size_t other = 0;
  while (model::fingerprint(all[other]) == model::fingerprint(all[stray])) ++other;
  watch_.raise(cpu::mismatch(op.number, {static_cast<int>(stray), all[stray]},
                             {static_cast<int>(other), all[other]}));
}

void ReferenceBackend::all_reduce(model::Descriptor const& op, void const* in, void* out) {
  if (blocking_) {
    ledger::Watch::Blocked const blocked(watch_, -1);
    comm_.reference_all_reduce(in, out, op.count, op.type, op.op, true, watch_);
  } else {
    compare(op);
    comm_.reference_all_reduce(in, out, op.count, op.type, op.op, false, watch_);
  }
}

void ReferenceBackend::broadcast(model::Descriptor const& op, void* buffer) {
  if (blocking_) {
    ledger::Watch::Blocked const blocked(watch_, comm_.rank() == op.root ? -1 : op.root);
    comm_.reference_broadcast(buffer, op.count, op.type, op.root, true, watch_);
  } else {
    compare(op);
    comm_.reference_broadcast(buffer, op.count, op.type, op.root, false, watch_);
  }
}

void ReferenceBackend::barrier(model::Descriptor const& op) {
  if (blocking_) {
    ledger::Watch::Blocked const blocked(watch_, -1);
    comm_.reference_barrier(true, watch_);
  } else {
    compare(op);
    comm_.reference_barrier(false, watch_);
  }
}

}  // namespace berth::comm
