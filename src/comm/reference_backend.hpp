// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coll/backend.hpp>
#include <ledger/watch.hpp>
#include <mpi/comm.hpp>

namespace berth::comm {

/// The naive reference: MPI's own collectives. With OnLost::exit they are the plain blocking calls,
/// watched by the watchdog, so that a comparison is fair; with OnLost::raise the nonblocking forms,
/// because nothing can throw out of a blocking MPI call.
class ReferenceBackend final : public coll::Backend {
 public:
  /// Both outlive this object.
  ReferenceBackend(mpi::Comm const& comm, ledger::Watch& watch);
  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  void all_reduce(model::Descriptor const& op, void const* in, void* out) override;
  void broadcast(model::Descriptor const& op, void* buffer) override;
  void barrier(model::Descriptor const& op) override;

 private:
  /// All ranks must be in the same operation: MPI ends the whole job when they are not. Only where
  /// the nonblocking forms are used. @throws Error mismatch on all ranks
  void compare(model::Descriptor const& op);

  mpi::Comm const& comm_;
  ledger::Watch& watch_;
  bool blocking_;
};

}  // namespace berth::comm
