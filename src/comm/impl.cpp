// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/names.hpp>
#include <comm/impl.hpp>
#include <comm/state.hpp>
#include <mpi/value.hpp>

namespace berth {

namespace {

void check_buffers(void const* in, void const* out, std::size_t count, Type type) {
  if (static_cast<unsigned>(type) > static_cast<unsigned>(Type::float64)) {
    base::fail(Errc::invalid_argument,
               fmt::format("element type {} does not exist", static_cast<unsigned>(type)));
  }
  if (count == 0) return;
  if (in == nullptr || out == nullptr) {
    base::fail(Errc::invalid_argument, fmt::format("a null buffer for {} elements", count));
  }
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / size_of(type)) {
    base::fail(Errc::invalid_argument, fmt::format("{} elements do not fit in memory", count));
  }
  auto const from = reinterpret_cast<std::uintptr_t>(in);
  auto const to = reinterpret_cast<std::uintptr_t>(out);
  std::uintptr_t const bytes = count * size_of(type);
  if (from != to && from < to + bytes && to < from + bytes) {
    base::fail(Errc::invalid_argument,
               "in and out overlap in part; they must be the same or apart");
  }
}

}  // namespace

Communicator::Impl::Impl(MPI_Comm parent, Options const& options, comm::Seams seams)
    : state_(std::make_unique<State>(options, std::move(seams))) {
  state_->start(parent);
}

Communicator::Impl::~Impl() {
  // Local and without waiting. A communicator that failed to start, was lost or was closed needs
  // nothing; one that is still open tells its peers.
  if (!state_->open || state_->watch->has_verdict()) return;
  state_->log.line(base::Level::warn, "a communicator was destroyed without close(): aborted");
  abort();
}

int Communicator::Impl::rank() const {
  return state_->mpi.rank();
}
int Communicator::Impl::size() const {
  return state_->mpi.size();
}
std::vector<std::string> const& Communicator::Impl::host_names() const {
  return state_->roster.host_names;
}
std::vector<int> const& Communicator::Impl::host_of_rank() const {
  return state_->roster.host_of_rank;
}
Placement const& Communicator::Impl::placement() const {
  return state_->placement;
}
std::vector<PhaseTime> const& Communicator::Impl::phases() const {
  return state_->phases;
}
Backend Communicator::Impl::backend_kind() const {
  return state_->kind;
}
std::string const& Communicator::Impl::shared_memory() const {
  return state_->ledger_memory.how;
}
base::Log const& Communicator::Impl::log() const {
  return state_->log;
}
mpi::Comm const& Communicator::Impl::mpi() const {
  return state_->mpi;
}
ledger::Watch& Communicator::Impl::watch() {
  return *state_->watch;
}
ledger::Ledger& Communicator::Impl::ledger() {
  return *state_->ledger;
}
coll::Backend& Communicator::Impl::backend() {
  return *state_->backend;
}
coll::Backend& Communicator::Impl::reference() {
  return *state_->reference;
}

std::optional<model::Node> const& Communicator::Impl::node() const {
  return state_->node;
}
std::optional<double> Communicator::Impl::launcher_cost() const {
  return state_->launcher_cost;
}

std::vector<std::string> Communicator::Impl::gather(std::string const& own) {
  constexpr int tag = 131;
  return mpi::gather_texts(state_->mpi, own, 0, tag, *state_->watch);
}

void Communicator::Impl::all_reduce(coll::Backend& on, void const* in, void* out, std::size_t count,
                                    Type type, Op op) {
  check_buffers(in, out, count, type);
  if (static_cast<unsigned>(op) > static_cast<unsigned>(Op::max)) {
    base::fail(Errc::invalid_argument,
               fmt::format("operation {} does not exist", static_cast<unsigned>(op)));
  }
  on.all_reduce(state_->begin(on, model::Collective::all_reduce, count, type, op, -1), in, out);
  state_->ledger->leave(state_->last_number);
}

void Communicator::Impl::broadcast(coll::Backend& on, void* buffer, std::size_t count, Type type,
                                   int root) {
  check_buffers(buffer, buffer, count, type);
  if (root < 0 || root >= size()) {
    base::fail(Errc::invalid_argument, fmt::format("root {} of {} ranks", root, size()));
  }
  on.broadcast(state_->begin(on, model::Collective::broadcast, count, type, Op::sum, root), buffer);
  state_->ledger->leave(state_->last_number);
}

void Communicator::Impl::barrier(coll::Backend& on) {
  on.barrier(state_->begin(on, model::Collective::barrier, 0, Type::int32, Op::sum, -1));
  state_->ledger->leave(state_->last_number);
}

void Communicator::Impl::set_phase(ledger::Phase phase) {
  state_->ledger->set_phase(phase);
}

void Communicator::Impl::agree(Errc code, std::string const& text) {
  state_->agree(code, text, ledger::phase_name(state_->ledger->own().progress.phase.load()));
}

void Communicator::Impl::abort() noexcept {
  if (!state_->open) return;
  state_->open = false;
  try {
    std::string const text = fmt::format("rank {}@{}: aborted the communicator after operation {}",
                                         rank(), state_->host_of(rank()), state_->last_number);
    state_->ledger->pronounce({Errc::aborted, rank(), "aborted", text});
    state_->tell_other_hosts(Errc::aborted, text);
  } catch (...) {
    // No memory for a text: the peers will find this rank's phase when their wait takes too long.
  }
  state_->ledger->set_phase(ledger::Phase::aborted);
}

void Communicator::Impl::close() {
  if (!state_->open) {
    base::fail(Errc::invalid_argument, "close() of a communicator that is not open");
  }
  state_->ledger->set_phase(ledger::Phase::closing);
  barrier(*state_->backend);
  state_->open = false;
  if (state_->session->began()) {
    // Finalising waits for every rank of the job and nothing can throw out of it.
    ledger::Watch::Blocked const blocked(*state_->watch, -1);
    state_->session->finalize();
  } else {
    state_->mpi.free();
  }
  state_->ledger->set_phase(ledger::Phase::closed);
}

}  // namespace berth
