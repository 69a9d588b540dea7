// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <comm/reference_backend.hpp>

namespace berth::comm {

ReferenceBackend::ReferenceBackend(mpi::Comm const& comm, ledger::Watch& watch)
    : comm_(comm), watch_(watch), blocking_(watch.on_lost() == OnLost::exit) {}

void ReferenceBackend::all_reduce(model::Descriptor const& op, void const* in, void* out) {
  if (blocking_) {
    ledger::Watch::Blocked const blocked(watch_, -1);
    comm_.reference_all_reduce(in, out, op.count, op.type, op.op, true, watch_);
  } else {
    comm_.reference_all_reduce(in, out, op.count, op.type, op.op, false, watch_);
  }
}

void ReferenceBackend::broadcast(model::Descriptor const& op, void* buffer) {
  if (blocking_) {
    ledger::Watch::Blocked const blocked(watch_, comm_.rank() == op.root ? -1 : op.root);
    comm_.reference_broadcast(buffer, op.count, op.type, op.root, true, watch_);
  } else {
    comm_.reference_broadcast(buffer, op.count, op.type, op.root, false, watch_);
  }
}

void ReferenceBackend::barrier(model::Descriptor const& /*op*/) {
  if (blocking_) {
    ledger::Watch::Blocked const blocked(watch_, -1);
    comm_.reference_barrier(true, watch_);
  } else {
    comm_.reference_barrier(false, watch_);
  }
}

}  // namespace berth::comm
