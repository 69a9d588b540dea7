// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <comm/impl.hpp>
#include <comm/state.hpp>
#include <mpi/value.hpp>

namespace berth {

namespace {

/// Calls go onto a stream of the user's for as long as this lives.
class Enqueued {
 public:
  Enqueued(nccl::DeviceBackend& on, void* stream) : on_(on) { on_.enqueue_on(stream); }
  ~Enqueued() { on_.finish(); }
  Enqueued(Enqueued const&) = delete;
  Enqueued& operator=(Enqueued const&) = delete;

 private:
  nccl::DeviceBackend& on_;
};

[[noreturn]] void refuse_stream() {
  base::fail(Errc::invalid_argument, "a stream needs the nccl backend");
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
  return state_->carrier();
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

void Communicator::Impl::run(coll::Backend& on, comm::Call const& call) {
  comm::check(call, rank(), size());
  if (call.collective == model::Collective::send_recv) {
    on.exchange(comm::ring(call, rank(), size()));
  } else {
    state_->make(on, call, 0);
  }
}

void Communicator::Impl::call(comm::Call const& call) {
  comm::check(call, rank(), size());
  comm::Queue& waiting = queue();
  coll::Backend& on = state_->backend_for(call.in, call.out);
  bool const is_host = &on == state_->backend.get();
  if (is_host && waiting.is_grouping()) return waiting.add(call);
  waiting.drain();
  state_->make(on, call, 0);
}

void Communicator::Impl::call(comm::Call const& call, void* stream) {
  comm::check(call, rank(), size());
  if (!state_->on_device) refuse_stream();
  if (call.count == 0) return;
  if (state_->queue) state_->queue->drain();
  Enqueued const enqueued(*state_->on_device, stream);
  state_->make(*state_->on_device, call, 0);
}

void Communicator::Impl::call(coll::Message const& message, void* stream) {
  comm::check(message, size());
  if (!state_->on_device) refuse_stream();
  if (message.count == 0) return;
  Enqueued const enqueued(*state_->on_device, stream);
  state_->on_device->exchange({message});
}

void Communicator::Impl::wait(void* stream, std::optional<std::chrono::milliseconds> deadline) {
  if (!state_->on_device) refuse_stream();
  if (!deadline) return state_->on_device->wait(stream);
  struct Back {
    State& state;
    ~Back() { state.set_operation_limits(); }
  } const back{*state_};
  state_->watch->set_limits({*deadline, true});
  state_->on_device->wait(stream);
}

void* Communicator::Impl::native_nccl() const noexcept {
  return state_->on_device ? state_->on_device->native() : nullptr;
}

gpu::Runtime* Communicator::Impl::runtime() const noexcept {
  return state_->on_device ? state_->runtime.get() : nullptr;
}

nccl::DeviceBackend* Communicator::Impl::on_device() const noexcept {
  return state_->on_device.get();
}

void Communicator::Impl::group_start() {
  queue().group_start();
  if (state_->on_device) state_->on_device->group_start();
}

void Communicator::Impl::group_end() {
  if (state_->on_device && queue().is_grouping()) state_->on_device->group_end();
  queue().group_end();
}

void Communicator::Impl::call(coll::Message const& message) {
  comm::check(message, size());
  comm::Queue& waiting = queue();
  coll::Backend& on = state_->backend_for(message.from, message.to);
  if (&on == state_->backend.get() && waiting.is_grouping()) return waiting.add(message);
  waiting.drain();
  on.exchange({message});
}

comm::Queue& Communicator::Impl::queue() {
  if (!state_->queue) {
    State* const state = state_.get();
    state_->queue.emplace(
        state->mpi, *state->watch,
        [state](comm::Call const& call, std::uint64_t form) {
          state->make(*state->backend, call, form);
        },
        [state](std::vector<coll::Message> const& messages) {
          state->backend->exchange(messages);
        });
  }
  return *state_->queue;
}

std::uint64_t Communicator::Impl::start(comm::Call const& call) {
  comm::check(call, rank(), size());
  if (queue().is_grouping()) {
    base::fail(Errc::invalid_argument, "a call cannot be started ahead inside a group");
  }
  if (&state_->backend_for(call.in, call.out) != state_->backend.get()) {
    base::fail(Errc::invalid_argument,
               "device memory: give the call a stream instead of starting it ahead");
  }
  return queue().start(call);
}

std::unique_ptr<Communicator::Impl> Communicator::Impl::split(int color, int key) {
  queue().drain();
  // The split itself blocks inside MPI; after this barrier every rank is on its way into it.
  state_->mpi.barrier(*state_->watch);
  MPI_Comm part = [&] {
    ledger::Watch::Blocked const blocked(*state_->watch, -1);
    return state_->mpi.split(color, key);
  }();
  if (part == MPI_COMM_NULL) return nullptr;
  Options options = state_->settings.options();
  options.backend = state_->kind;
  comm::Seams seams;
  seams.wrap_backend = state_->seams.wrap_backend;
  seams.placement = state_->placement;
  seams.allowed = state_->allowed;
  seams.runtime = state_->runtime;
  auto made = std::make_unique<Impl>(part, options, std::move(seams));
  mpi::free(part);
  return made;
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
  if (state_->on_device) state_->on_device->abort();
  state_->ledger->set_phase(ledger::Phase::aborted);
}

void Communicator::Impl::close() {
  if (!state_->open) {
    base::fail(Errc::invalid_argument, "close() of a communicator that is not open");
  }
  if (state_->queue) state_->queue->drain();
  state_->ledger->set_phase(ledger::Phase::closing);
  comm::Call last;
  last.collective = model::Collective::barrier;
  run(*state_->backend, last);
  if (state_->on_device) state_->on_device->close();
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
