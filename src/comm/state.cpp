// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <new>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <comm/state.hpp>

namespace berth {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Without a deadline of the user's an operation is never given up, but its late rank is reported.
constexpr auto report_after = std::chrono::seconds(60);

}  // namespace

Communicator::Impl::State::State(Options const& options, comm::Seams given)
    : seams(std::move(given)) {
  base::Environment const environment = base::Environment::process();
  settings = comm::resolve(options, environment);
  launched = launcher::read(environment);
}

std::string Communicator::Impl::State::host_of(int rank) const {
  if (rank < 0 || roster.host_names.empty()) return {};
  int const host = roster.host_of_rank[static_cast<std::size_t>(rank)];
  return roster.host_names[static_cast<std::size_t>(host)];
}

void Communicator::Impl::State::agree(Errc code, std::string const& text,
                                      std::string const& where) {
  mpi::Agreed const agreed = mpi.agree(code, text, *watch);
  if (agreed.code == Errc::ok) return;
  std::string const host = host_of(agreed.rank);
  throw Error(agreed.code, agreed.rank,
              fmt::format("rank {}{}{}: {} ({})", agreed.rank, host.empty() ? "" : "@", host,
                          agreed.text, where),
              mpi.rank() != 0);
}

void Communicator::Impl::State::step(ledger::Phase phase,
                                     std::function<std::string()> const& body) {
  auto const start = std::chrono::steady_clock::now();
  if (ledger) ledger->set_phase(phase);
  Errc code = Errc::ok;
  std::string text;
  std::string note;
  try {
    note = body();
  } catch (Error const& error) {
    // A verdict is known to all ranks already and nobody would answer an agreement.
    if (watch->has_verdict()) throw;
    code = error.code();
    text = error.what();
  } catch (std::bad_alloc const&) {
    code = Errc::out_of_memory;
    text = "no memory left";
  } catch (std::exception const& error) {
    code = Errc::internal;
    text = error.what();
  }
  agree(code, text, ledger::phase_name(phase));
  // Several steps in a row may be one phase for people.
  std::string const name = ledger::phase_name(phase);
  if (phases.empty() || phases.back().name != name) phases.push_back({name, 0, {}});
  phases.back().seconds += seconds_since(start);
  if (!note.empty()) phases.back().note = note;
}

void Communicator::Impl::State::set_operation_limits() {
  watch->set_limits(
      {settings.op_deadline.value_or(report_after), settings.op_deadline.has_value()});
}

void Communicator::Impl::State::start(MPI_Comm parent) {
  roll_call(parent);
  step(ledger::Phase::plan, [this] { return plan(); });
  step(ledger::Phase::bind, [this] { return bind(); });
  // Apart, because what only one rank finds must be agreed before the next collective.
  step(ledger::Phase::connect, [this]() -> std::string {
    decide_backend();
    return {};
  });
  step(ledger::Phase::connect, [this]() -> std::string {
    open_nccl();
    return {};
  });
  step(ledger::Phase::connect, [this] { return connect(); });
  if (kind == Backend::nccl) step(ledger::Phase::connect, [this] { return connect_device(); });
  if (seams.first_data) step(ledger::Phase::data, [this] { return first_data(); });
  set_operation_limits();
  ledger->set_phase(ledger::Phase::running);
  watch->stand_down();
  open = true;
}

void Communicator::Impl::State::tell_other_hosts(Errc code, std::string const& text) const {
  mpi::Comm::Note const note(code, mpi.rank(), text.c_str());
  std::set<int> told{sharing_of_rank[static_cast<std::size_t>(mpi.rank())]};
  for (int rank = 0; rank < mpi.size(); ++rank) {
    if (told.insert(sharing_of_rank[static_cast<std::size_t>(rank)]).second) {
      mpi.send_note(note, rank);
    }
  }
}

void Communicator::Impl::State::tell_all(Errc code, std::string const& text) {
  std::string const line = fmt::format("rank {}@{}: {}", mpi.rank(), host_of(mpi.rank()), text);
  watch->pronounce({code, mpi.rank(), errc_name(code), line});
  tell_other_hosts(code, line);
}

Backend Communicator::Impl::State::kind_of(coll::Backend const& on) const {
  if (&on == on_device.get() || &on == staged.get()) return Backend::nccl;
  if (&on == reference.get()) return Backend::mpi;
  return kind == Backend::nccl ? Backend::cpu : kind;
}

coll::Backend& Communicator::Impl::State::backend_for(void const* in, void const* out) {
  if (!on_device || (in == nullptr && out == nullptr)) return *backend;
  gpu::Place const first = runtime->place_of(in == nullptr ? out : in);
  if (in != nullptr && out != nullptr && in != out && runtime->place_of(out) != first) {
    base::fail(Errc::invalid_argument, "one buffer is in host memory and one in device memory");
  }
  if (first == gpu::Place::host) return *backend;
  return *on_device;
}

void Communicator::Impl::State::make(coll::Backend& on, comm::Call const& call,
                                     std::uint64_t form) {
  model::Descriptor operation;
  operation.number = ++last_number;
  operation.count = call.count;
  operation.collective = call.collective;
  operation.type = call.type;
  operation.op = call.op;
  operation.backend = kind_of(on);
  operation.root = call.root;
  operation.form = form;
  ledger->enter(operation);
  try {
    comm::run(on, operation, call);
  } catch (Error const& error) {
    fail_operation(error.code(), error.what());
    throw;
  } catch (std::bad_alloc const&) {
    fail_operation(Errc::out_of_memory, "no memory left");
    throw;
  }
  ledger->leave(last_number);
}

void Communicator::Impl::State::fail_operation(Errc code, std::string const& text) {
  // The others are in the same operation and would wait for this rank's part of it.
  if (!watch->has_verdict()) tell_all(code, text);
  watch->check();
}

}  // namespace berth
