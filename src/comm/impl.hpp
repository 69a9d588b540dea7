// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gpu/runtime.hpp>
#include <nccl/backend.hpp>

#include <base/log.hpp>
#include <berth/communicator.hpp>
#include <coll/backend.hpp>
#include <comm/call.hpp>
#include <comm/queue.hpp>
#include <comm/seams.hpp>
#include <ledger/watch.hpp>
#include <model/node.hpp>
#include <mpi/comm.hpp>

namespace berth {

/// What a Communicator is made of. For Berth's own tools (verify, bench, cli), which need the
/// second backend, the phases of the ledger and agreement beside the public calls.
class Communicator::Impl {
 public:
  /// As the public constructor; `seams` are what tools and tests inject.
  Impl(MPI_Comm parent, Options const& options, comm::Seams seams);
  ~Impl();
  Impl(Impl const&) = delete;
  Impl& operator=(Impl const&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// Host names by order of their lowest rank.
  [[nodiscard]] std::vector<std::string> const& host_names() const;
  /// Index into host_names() by rank.
  [[nodiscard]] std::vector<int> const& host_of_rank() const;
  [[nodiscard]] Placement const& placement() const;
  /// This host's machine, known to its first rank; absent elsewhere.
  [[nodiscard]] std::optional<model::Node> const& node() const;
  /// What the launcher's own binding costs this host, known to its first rank; absent elsewhere and
  /// when nobody was bound.
  [[nodiscard]] std::optional<double> launcher_cost() const;
  /// Texts of all ranks at rank 0, by rank; empty elsewhere. Collective, bounded.
  /// @throws Error lost, timeout, mpi
  [[nodiscard]] std::vector<std::string> gather(std::string const& own);
  [[nodiscard]] std::vector<PhaseTime> const& phases() const;
  [[nodiscard]] Backend backend_kind() const;
  /// How this host shares memory: "memfd", "shm_open", "private", "none".
  [[nodiscard]] std::string const& shared_memory() const;
  [[nodiscard]] base::Log const& log() const;
  [[nodiscard]] mpi::Comm const& mpi() const;
  [[nodiscard]] ledger::Watch& watch();
  [[nodiscard]] ledger::Ledger& ledger();

  /// The communicator's backend and the naive reference. Owned by this object.
  [[nodiscard]] coll::Backend& backend();
  [[nodiscard]] coll::Backend& reference();
  /// A collective on a backend of choice, now: checks the call, numbers and records it, runs it.
  /// A send_recv, which has no number, is a ring: see comm::ring().
  /// @throws Error as the public calls
  void run(coll::Backend& on, comm::Call const& call);
  /// A collective of the user's: on the communicator's backend, after what was started before it;
  /// inside a group at its end.
  void call(comm::Call const& call);
  /// A send or a receive of the user's: inside a group at its end, else now and alone.
  void call(coll::Message const& message);
  /// The same, enqueued on a stream of the user's device and not waited for.
  void call(comm::Call const& call, void* stream);
  void call(coll::Message const& message, void* stream);
  /// Bounded: returns when everything on the stream is done. Without a deadline the operations' own
  /// holds. @throws Error lost, timeout, device, nccl, invalid_argument
  void wait(void* stream, std::optional<std::chrono::milliseconds> deadline);
  void group_start();
  void group_end();
  /// The ncclComm_t; null where the backend is not nccl.
  [[nodiscard]] void* native_nccl() const noexcept;
  /// What device memory and streams are made with; null where the backend is not nccl.
  [[nodiscard]] gpu::Runtime* runtime() const noexcept;
  /// The collectives on device memory; null where the backend is not nccl.
  [[nodiscard]] nccl::DeviceBackend* on_device() const noexcept;
  /// Calls that wait to be made.
  [[nodiscard]] comm::Queue& queue();
  /// Starts a collective ahead of its wait; the ticket is for queue().
  std::uint64_t start(comm::Call const& call);
  /// Collective, bounded: the ranks of one colour, in the order of key and rank; null for a
  /// negative colour. @throws Error as the constructor
  std::unique_ptr<Impl> split(int color, int key);

  /// Tells the watchdogs what the program is doing ("verify", "bench").
  void set_phase(ledger::Phase phase);
  /// Collective, bounded: every rank learns whether any failed; then all throw the same Error.
  void agree(Errc code, std::string const& text);

  void abort() noexcept;
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth
