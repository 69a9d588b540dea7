// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a communicator of the nccl backend costs beyond what nobody can do without: ncclGetUniqueId,
// MPI_Bcast, a nonblocking init and one collective. Both in turn, medians over the slowest rank.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>
#include <nccl.h>

#include <base/dynlib.hpp>
#include <comm/impl.hpp>

namespace {

using berth::base::DynLib;

constexpr int rounds = 15;

template <class Function>
Function* symbol(DynLib const& library, Function* /*type*/, char const* name) {
  return reinterpret_cast<Function*>(library.find(name));
}

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Milliseconds of the bare steps on this rank.
double bare(DynLib const& nccl, berth::gpu::Runtime& runtime, int rank, int size) {
  auto const get_id = symbol(nccl, &ncclGetUniqueId, "ncclGetUniqueId");
  auto const init = symbol(nccl, &ncclCommInitRankConfig, "ncclCommInitRankConfig");
  auto const state_of = symbol(nccl, &ncclCommGetAsyncError, "ncclCommGetAsyncError");
  auto const all_reduce = symbol(nccl, &ncclAllReduce, "ncclAllReduce");
  auto const destroy = symbol(nccl, &ncclCommDestroy, "ncclCommDestroy");
  auto* const data = static_cast<float*>(runtime.allocate(sizeof(float)));
  berth::gpu::Stream const stream = runtime.make_stream();
  MPI_Barrier(MPI_COMM_WORLD);
  double const start = now();
  ncclUniqueId id;
  if (rank == 0) get_id(&id);
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  init(&comm, size, id, rank, &config);
  ncclResult_t state = ncclInProgress;
  // Ranks share cores here: whoever polls gives way, as Berth does.
  auto const settle = [&] {
    for (;;) {
      state_of(comm, &state);
      if (state != ncclInProgress) return;
      std::this_thread::yield();
    }
  };
  settle();
  all_reduce(data, data, 1, ncclFloat32, ncclSum, comm, static_cast<cudaStream_t>(stream));
  settle();
  while (!runtime.is_done(stream)) std::this_thread::yield();
  double const took = now() - start;
  if (state != ncclSuccess) std::abort();
  destroy(comm);
  runtime.free_stream(stream);
  runtime.free(data);
  return took;
}

double median_of_slowest(std::vector<double> mine) {
  MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  std::sort(mine.begin(), mine.end());
  return mine[mine.size() / 2];
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  berth::Options options;
  options.backend = berth::Backend::nccl;
  options.bind = false;
  berth::Communicator first(MPI_COMM_WORLD, options);
  DynLib const nccl = DynLib::loaded("libnccl.so.2");
  std::vector<double> alone;
  std::vector<double> connect;
  std::map<std::string, std::vector<double>> phases;
  for (int round = 0; round < rounds; ++round) {
    alone.push_back(bare(nccl, *first.impl().runtime(), rank, size));
    berth::Communicator comm(MPI_COMM_WORLD, options);
    double both = 0;
    for (berth::PhaseTime const& phase : comm.phases()) {
      phases[phase.name].push_back(phase.seconds * 1e3);
      if (phase.name == "connect" || phase.name == "data") both += phase.seconds * 1e3;
    }
    connect.push_back(both);
    comm.close();
  }
  double const without = median_of_slowest(alone);
  double const with = median_of_slowest(connect);
  if (rank == 0)
    std::printf("%d ranks: bare %.2f ms, connect and data %.2f ms: %.2f ms more, allowed %.2f\n",
                size, without, with, with - without, std::max(5.0, without / 10));
  for (auto const& [name, samples] : phases) {
    double const median = median_of_slowest(samples);
    if (rank == 0) std::printf("  %-10s %.2f ms\n", name.c_str(), median);
  }
  first.close();
  MPI_Finalize();
  return with - without <= std::max(5.0, without / 10) ? 0 : 1;
}
