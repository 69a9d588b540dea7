// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "cpu/thread_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include <base/error.hpp>
#include <sys/shared_memory.hpp>

namespace berth::cpu::test {

/// One rank's end of a Network.
class ThreadLane final : public Lane {
 public:
  ThreadLane(Network& network, int rank) : network_(network), rank_(rank) {}

  Ticket send(int to, void const* data, std::size_t bytes) override {
    std::scoped_lock const lock(network_.mutex_);
    auto const* const begin = static_cast<std::byte const*>(data);
    Network::Message message{{begin, begin + bytes}, std::make_shared<bool>(false)};
    std::size_t const index = keep({message.delivered, -1, nullptr, 0});
    if (!network_.is_rendezvous_ || bytes <= Network::eager_bytes) *message.delivered = true;
    network_.queue(rank_, to).push_back(std::move(message));
    return static_cast<Ticket>(index);
  }

  Ticket receive(int from, void* data, std::size_t bytes) override {
    std::scoped_lock const lock(network_.mutex_);
    std::size_t const index = keep({std::make_shared<bool>(false), from, data, bytes});
    pending_.push_back(index);
    return static_cast<Ticket>(index);
  }

  bool test(Ticket ticket) override {
    std::scoped_lock const lock(network_.mutex_);
    deliver();
    if (!*transfers_[static_cast<std::size_t>(ticket)].done) return false;
    free_.push_back(static_cast<std::size_t>(ticket));
    return true;
  }

  void tell(int to, Error const& error) noexcept override {
    std::scoped_lock const lock(network_.mutex_);
    network_.notes_[static_cast<std::size_t>(to)].push_back(error);
  }

 private:
  struct Transfer {
    std::shared_ptr<bool> done;
    int from;
    void* data;
    std::size_t bytes;
  };

  std::size_t keep(Transfer transfer) {
    if (free_.empty()) {
      transfers_.push_back(std::move(transfer));
      return transfers_.size() - 1;
    }
    std::size_t const index = free_.back();
    free_.pop_back();
    transfers_[index] = std::move(transfer);
    return index;
  }

  /// Matches receives in the order in which they were started.
  void deliver() {
    std::erase_if(pending_, [&](std::size_t index) {
      Transfer const& transfer = transfers_[index];
      auto& queue = network_.queue(transfer.from, rank_);
      if (queue.empty()) return false;
      Network::Message& message = queue.front();
      if (message.data.size() > transfer.bytes) base::fail(Errc::mpi, "message truncated");
      if (!message.data.empty()) {
        std::memcpy(transfer.data, message.data.data(), message.data.size());
      }
      *message.delivered = true;
      *transfer.done = true;
      queue.pop_front();
      return true;
    });
  }

  Network& network_;
  int rank_;
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> pending_;
  std::vector<std::size_t> free_;
};

Network::Network(int ranks, bool is_rendezvous)
    : ranks_(ranks),
      is_rendezvous_(is_rendezvous),
      queues_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)),
      notes_(static_cast<std::size_t>(ranks)) {}

std::optional<Error> Network::note(int rank) {
  std::scoped_lock const lock(mutex_);
  auto& notes = notes_[static_cast<std::size_t>(rank)];
  if (notes.empty()) return std::nullopt;
  Error const error = notes.front();
  notes.pop_front();
  return error;
}

std::unique_ptr<Lane> Network::lane(int rank) {
  return std::make_unique<ThreadLane>(*this, rank);
}

void Rank::run(model::Descriptor operation,
               std::function<void(model::Descriptor const&)> const& body) {
  operation.number = ++number;
  operation.backend = Backend::cpu;
  ledger->enter(operation);
  body(operation);
  ledger->leave(number);
}

namespace {

model::Descriptor call(model::Collective collective, std::size_t count, Type type, Op op = Op::sum,
                       int root = -1) {
  return {0, count, collective, type, op, Backend::cpu, root, 0};
}

}  // namespace

void Rank::all_reduce(void const* in, void* out, std::size_t count, Type type, Op op) {
  run(call(model::Collective::all_reduce, count, type, op),
      [&](model::Descriptor const& operation) { backend->all_reduce(operation, in, out); });
}

void Rank::reduce(void const* in, void* out, std::size_t count, Type type, Op op, int root) {
  run(call(model::Collective::reduce, count, type, op, root),
      [&](model::Descriptor const& operation) { backend->reduce(operation, in, out); });
}

void Rank::broadcast(void* buffer, std::size_t count, Type type, int root) {
  run(call(model::Collective::broadcast, count, type, Op::sum, root),
      [&](model::Descriptor const& operation) { backend->broadcast(operation, buffer); });
}

void Rank::all_gather(void const* in, void* out, std::size_t count, Type type) {
  run(call(model::Collective::all_gather, count, type),
      [&](model::Descriptor const& operation) { backend->all_gather(operation, in, out); });
}

void Rank::reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op) {
  run(call(model::Collective::reduce_scatter, count, type, op),
      [&](model::Descriptor const& operation) { backend->reduce_scatter(operation, in, out); });
}

void Rank::all_to_all(void const* in, void* out, std::size_t count, Type type) {
  run(call(model::Collective::all_to_all, count, type),
      [&](model::Descriptor const& operation) { backend->all_to_all(operation, in, out); });
}

void Rank::exchange(std::vector<coll::Message> const& messages) {
  run(call(model::Collective::send_recv, messages.size(), Type::int32),
      [&](model::Descriptor const&) { backend->exchange(messages); });
}

void Rank::barrier() {
  run(call(model::Collective::barrier, 0, Type::int32),
      [&](model::Descriptor const& operation) { backend->barrier(operation); });
}

struct Job::Host {
  sys::SharedMemory segment;
  sys::SharedMemory records;
};

struct Job::Member {
  std::optional<ledger::Ledger> ledger;
  std::unique_ptr<ledger::Watch> watch;
  std::unique_ptr<Lane> lane;
  std::unique_ptr<CpuBackend> backend;
  Rank rank;
};

namespace {

Topology arrange(std::vector<int> const& ranks_per_host, bool is_round_robin) {
  std::vector<Place> places;
  if (!is_round_robin) {
    for (std::size_t host = 0; host < ranks_per_host.size(); ++host) {
      for (int local = 0; local < ranks_per_host[host]; ++local) {
        places.push_back({static_cast<int>(host), local});
      }
    }
    return Topology(places);
  }
  int const most = *std::max_element(ranks_per_host.begin(), ranks_per_host.end());
  for (int local = 0; local < most; ++local) {
    for (std::size_t host = 0; host < ranks_per_host.size(); ++host) {
      if (local < ranks_per_host[host]) places.push_back({static_cast<int>(host), local});
    }
  }
  return Topology(places);
}

}  // namespace

Job::Job(std::vector<int> const& ranks_per_host, coll::Tuning const& tuning, bool is_round_robin,
         bool is_rendezvous, kernel::Kernels const* kernels)
    : topology_(arrange(ranks_per_host, is_round_robin)),
      network_(topology_.size(), is_rendezvous) {
  for (int ranks : ranks_per_host) {
    auto host = std::make_unique<Host>();
    host->segment = sys::SharedMemory::anonymous(CpuBackend::segment_bytes(ranks, tuning));
    host->records = sys::SharedMemory::anonymous(ledger::Ledger::bytes(ranks));
    ledger::Ledger(host->records.data(), ranks, 0).format();
    hosts_.push_back(std::move(host));
  }
  int const cores = static_cast<int>(std::thread::hardware_concurrency());
  for (int rank = 0; rank < topology_.size(); ++rank) {
    Place const place = topology_.place(rank);
    Host& host = *hosts_[static_cast<std::size_t>(place.host)];
    auto member = std::make_unique<Member>();
    member->ledger.emplace(host.records.data(), topology_.local_size(place.host), place.local);
    member->ledger->announce(rank, sys::own_pid(), sys::own_start_time());
    ledger::WatchSetup watch;
    watch.rank = rank;
    watch.limits.deadline = std::chrono::seconds(20);
    watch.spins = topology_.size() > cores ? 50 : 2000;
    watch.clock = &clock_;
    watch.facts = &facts_;
    watch.log = &log_;
    watch.use_handles = false;
    watch.progress = [this, rank, records = &*member->ledger] {
      if (auto const note = network_.note(rank)) {
        records->pronounce({note->code(), note->rank(), "aborted", note->what()});
      }
    };
    member->watch = std::make_unique<ledger::Watch>(watch);
    member->watch->attach(*member->ledger);
    member->lane = network_.lane(rank);
    Setup setup;
    setup.rank = rank;
    setup.topology = topology_;
    setup.segment = host.segment.data();
    setup.ledger = &*member->ledger;
    setup.watch = member->watch.get();
    setup.lane = member->lane.get();
    setup.tuning = tuning;
    setup.kernels = kernels;
    member->backend = std::make_unique<CpuBackend>(setup);
    member->rank = {rank, topology_.size(), member->backend.get(), &*member->ledger, 0};
    members_.push_back(std::move(member));
  }
}

Job::~Job() = default;

std::vector<std::optional<Error>> Job::run(std::function<void(Rank&)> const& body) {
  std::vector<std::optional<Error>> errors(members_.size());
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(members_[rank]->rank);
      } catch (Error const& error) {
        errors[rank] = error;
      }
    });
  }
  threads.clear();  // joins
  return errors;
}

}  // namespace berth::cpu::test
