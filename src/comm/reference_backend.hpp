// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <coll/backend.hpp>
#include <kernel/reduce.hpp>
#include <ledger/watch.hpp>
#include <mpi/comm.hpp>
#include <mpi/reference.hpp>

namespace berth::comm {

/// The naive reference: MPI's own collectives. With OnLost::exit they are the plain blocking calls,
/// watched by the watchdog, so that a comparison is fair; with OnLost::raise the nonblocking forms,
/// because nothing can throw out of a blocking MPI call. MPI has no 16-bit floats and no averages:
/// these go through float32 and a sum.
class ReferenceBackend final : public coll::Backend {
 public:
  /// Both outlive this object.
  ReferenceBackend(mpi::Comm const& comm, ledger::Watch& watch);
  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  void all_reduce(model::Descriptor const& op, void const* in, void* out) override;
  void reduce(model::Descriptor const& op, void const* in, void* out) override;
  void broadcast(model::Descriptor const& op, void* buffer) override;
  void all_gather(model::Descriptor const& op, void const* in, void* out) override;
  void reduce_scatter(model::Descriptor const& op, void const* in, void* out) override;
  void all_to_all(model::Descriptor const& op, void const* in, void* out) override;
  void exchange(std::vector<coll::Message> const& messages) override;
  void barrier(model::Descriptor const& op) override;

 private:
  /// What MPI is given for an operation on `in`: the data, its type and its operation.
  struct Operand {
    void const* data;
    Type type;
    Op op;
    std::vector<float> wide;  ///< holds the data of a 16-bit float
  };
  [[nodiscard]] Operand operand(model::Descriptor const& op, void const* in,
                                std::size_t count) const;
  /// Memory for MPI's result: `out` itself, or `scratch` where the type is another.
  static void* result(model::Descriptor const& op, void* out, std::vector<float>& scratch);
  /// Turns MPI's result into the operation's.
  void finish(model::Descriptor const& op, void* out, void const* result) const;

  void receive(coll::Message const& message);
  /// All ranks must be in the same operation: MPI ends the whole job when they are not. Only where
  /// the nonblocking forms are used. @throws Error mismatch on all ranks
  void compare(model::Descriptor const& op);
  /// Runs `call` watched or after a comparison.
  template <class Call>
  void run(model::Descriptor const& op, int peer, Call&& call);

  mpi::Comm const& comm_;
  ledger::Watch& watch_;
  bool blocking_;
  mpi::Reference reference_;
  kernel::Kernels const& kernels_;
};

}  // namespace berth::comm
