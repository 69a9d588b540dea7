// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/names.hpp>
#include <comm/reference_backend.hpp>
#include <comm/state.hpp>
#include <cpu/backend.hpp>
#include <cpu/mpi_lane.hpp>
#include <kernel/reduce.hpp>
#include <pattern/pattern.hpp>

// The steps "connect" and "data": backends over shared memory and lanes, then the first coded
// collective, so that a communicator that exists has carried right data.

namespace berth {

namespace {

/// Pauses before a wait yields: long enough for a neighbour that is a little late when every rank
/// has a core, next to none when ranks must take turns.
constexpr int spins_with_own_core = 2000;
constexpr int spins_when_sharing = 50;

/// Where every rank is for the cpu backend: hosts that cannot share memory are one per rank.
cpu::Topology data_topology(std::vector<int> const& group_of_rank) {
  std::vector<cpu::Place> places;
  places.reserve(group_of_rank.size());
  std::vector<int> ranks_in_group(group_of_rank.size(), 0);
  for (int group : group_of_rank) {
    places.push_back({group, ranks_in_group[static_cast<std::size_t>(group)]++});
  }
  return cpu::Topology(places);
}

}  // namespace

std::string Communicator::Impl::State::connect() {
  bool const own_cores = sharing.ranks.size() <= allowed.size();
  watch->set_spins(own_cores ? spins_with_own_core : spins_when_sharing);
  reference = std::make_unique<comm::ReferenceBackend>(mpi, *watch);
  if (kind == Backend::mpi) {
    backend = std::make_unique<comm::ReferenceBackend>(mpi, *watch);
    return "MPI's own collectives";
  }
  coll::Tuning const tuning;
  auto const local_size = static_cast<int>(sharing.ranks.size());
  data_memory = ledger::share(mpi, sharing, cpu::CpuBackend::segment_bytes(local_size, tuning),
                              ledger_memory.shared ? settings.shared_memory : "none", *watch);
  if (local_size > 1 && !data_memory.shared) {
    // Only the ranks that could not speak, so that the agreement that follows names one of them.
    if (!data_memory.failure.empty()) base::fail(Errc::system, data_memory.failure);
    return {};
  }
  lane = std::make_unique<cpu::MpiLane>(mpi);
  cpu::Setup setup;
  setup.rank = mpi.rank();
  setup.topology = data_topology(sharing_of_rank);
  setup.segment = data_memory.memory.data();
  setup.ledger = &*ledger;
  setup.watch = watch.get();
  setup.lane = lane.get();
  setup.tuning = tuning;
  setup.kernels = &kernel::best();
  backend = std::make_unique<cpu::CpuBackend>(setup);
  if (seams.wrap_backend && kind == Backend::cpu) {
    backend = seams.wrap_backend(std::move(backend));
  }
  return fmt::format("cpu, {}, {} kernels", data_memory.how, kernel::best().name);
}

std::string Communicator::Impl::State::first_data() {
  // One size per design of the cpu backend: a line, a flat buffer, a ring. NCCL makes its
  // connections with the first call whatever its size; verify tries more.
  std::vector<std::size_t> counts = {2, 1000, 70000};
  if (staged) counts = {1000};
  std::vector<float> data(counts.back());
  pattern::Code code{Type::float32, Op::sum, mpi.size(), 1};
  for (std::size_t count : counts) {
    ++code.round;
    pattern::fill(code, mpi.rank(), data.data(), 0, count);
    make(carrier(),
         {model::Collective::all_reduce, data.data(), data.data(), count, code.type, code.op, -1},
         0);
    pattern::Check const check = pattern::check_reduced(code, data.data(), 0, count);
    if (check.wrong != 0) {
      base::fail(Errc::wrong_data,
                 fmt::format("{} of {} elements of the first all_reduce arrived changed, the first "
                             "at {}; berth verify finds out whose they are",
                             check.wrong, count, check.first_wrong));
    }
  }
  return fmt::format("{} size{}, all right", counts.size(), counts.size() == 1 ? "" : "s");
}

}  // namespace berth
