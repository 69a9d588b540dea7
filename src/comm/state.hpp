// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gpu/runtime.hpp>
#include <nccl/backend.hpp>

#include <base/clock.hpp>
#include <base/log.hpp>
#include <comm/impl.hpp>
#include <comm/settings.hpp>
#include <cpu/lane.hpp>
#include <launcher/launcher.hpp>
#include <ledger/share.hpp>
#include <ledger/watch.hpp>
#include <model/node.hpp>
#include <mpi/comm.hpp>
#include <roster/attendance.hpp>
#include <roster/roster.hpp>
#include <sys/process.hpp>

namespace berth {

/// Everything a Communicator owns, in the order of the start-up; destroyed in reverse.
struct Communicator::Impl::State {
  State(Options const& options, comm::Seams given);

  comm::Seams seams;
  comm::Settings settings;
  launcher::Step launched;
  base::SteadyClock clock;
  sys::ProcFacts facts;
  base::Log log;
  std::unique_ptr<mpi::Session> session;
  mpi::Comm mpi;
  ledger::Shared ledger_memory;  ///< outlives the watch, whose thread reads it
  std::optional<ledger::Ledger> ledger;
  std::unique_ptr<roster::Attendance> attendance;  ///< during the roll call; outlives its watch
  bool was_told = false;  ///< a verdict came from another rank, which reports it
  std::unique_ptr<ledger::Watch> watch;
  roster::Roster roster;
  ledger::LocalGroup sharing;        ///< ranks that share memory with this one; at worst itself
  std::vector<int> sharing_of_rank;  ///< number of each rank's sharing group
  model::PuSet allowed;              ///< PUs this host's ranks may use
  Placement placement;
  std::optional<model::Node> node;  ///< this host's machine, at its first rank
  std::optional<double>
      launcher_cost;  ///< of the host, at its first rank; absent: nobody was bound
  ledger::Shared data_memory;
  std::unique_ptr<cpu::Lane> lane;
  std::shared_ptr<gpu::Runtime> runtime;  ///< null: no devices are used
  std::vector<gpu::Device> devices;       ///< as this process sees them
  gpu::Device device;                     ///< this rank's; ordinal -1: none
  int host_gpus = 0;                      ///< of the vendor that has a backend, on this host
  Errc device_code = Errc::ok;            ///< why no device can be used
  std::string device_text;
  std::shared_ptr<nccl::Library const> nccl_library;  ///< null: kind is not nccl
  std::unique_ptr<coll::Backend> backend;             ///< for host memory
  std::unique_ptr<nccl::DeviceBackend> on_device;     ///< for device memory; null: kind is not nccl
  std::unique_ptr<coll::Backend> staged;              ///< host memory through on_device
  std::unique_ptr<coll::Backend> reference;
  Backend kind = Backend::cpu;
  std::vector<PhaseTime> phases;
  std::optional<comm::Queue> queue;
  std::uint64_t last_number = 0;  ///< of operations
  bool open = false;              ///< between the end of start-up and close or abort

  /// All of the start-up: roll call, plan, bind, connect, first data. @throws Error
  void start(MPI_Comm parent);
  /// One agreed step: runs `body`, whose result is the note of the phase, then all ranks go on or
  /// all throw. @throws Error
  void step(ledger::Phase phase, std::function<std::string()> const& body);
  /// All ranks learn whether any failed; then all throw the same Error.
  void agree(Errc code, std::string const& text, std::string const& where);
  /// Name of a rank's host; empty before the roll call.
  [[nodiscard]] std::string host_of(int rank) const;

  /// From now on waits are judged as operations of a running communicator.
  void set_operation_limits();

  // Parts of the steps, each in the file of its name.
  void roll_call(MPI_Comm parent);
  void make_watch();
  void open_mpi(MPI_Comm parent);
  roster::Entry own_entry();
  void call_roll();
  void share_ledger();
  std::string plan();
  std::string bind();
  std::string connect();
  std::string first_data();
  void look_for_devices();
  void choose_device();
  void decide_backend();
  /// @throws Error no_driver, no_device: why this rank has no device
  [[noreturn]] void refuse_device() const;
  void open_nccl();
  std::string connect_device();
  /// Looks whether the ranks of this host made different calls. @throws Error mismatch
  void compare_operations();

  /// The backend of verify, bench and the first data: host memory in, whatever carries it.
  [[nodiscard]] coll::Backend& carrier() { return staged ? *staged : *backend; }
  /// Which one `on` is.
  [[nodiscard]] Backend kind_of(coll::Backend const& on) const;
  /// The backend for where a call's buffers lie; either may be null.
  /// @throws Error invalid_argument: one is in host and one in device memory
  [[nodiscard]] coll::Backend& backend_for(void const* in, void const* out);

  /// Carries the end of this communicator to one rank of every other sharing group. Never waits.
  void tell_other_hosts(Errc code, std::string const& text) const;
  /// Every rank learns that this one cannot go on, and why. Never waits.
  void tell_all(Errc code, std::string const& text);
  /// What only this rank met in an operation ends it on every rank. @throws Error the verdict
  void fail_operation(Errc code, std::string const& text);
  /// Makes a checked call now: numbers and records it, runs it on `on`.
  /// @param form how it was made, see model::Descriptor
  void make(coll::Backend& on, comm::Call const& call, std::uint64_t form);
};

}  // namespace berth
