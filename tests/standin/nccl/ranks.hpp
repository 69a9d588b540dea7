// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Ranks for the tests of the stand-in: forked processes, so that they can die, hang and have their
/// own environment. The process of the tests itself never calls CUDA or NCCL.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <nccl.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/wait.h>

/// In a rank: ends it with a line when the condition does not hold.
#define EXPECT_HERE(condition)                                                                    \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::fprintf(stderr, "%s:%d: rank %d: not true: %s (last error: %s)\n", __FILE__, __LINE__, \
                   rank, #condition, ncclGetLastError(nullptr));                                  \
      _exit(1);                                                                                   \
    }                                                                                             \
  } while (false)

namespace ranks {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// What the ranks of one job share.
struct Shared {
  std::atomic<int> ids;
  std::atomic<int> arrived;
  ncclUniqueId id[8];

  /// Called by all of `count` ranks; `round` counts from 1.
  void meet(int count, int round) {
    ++arrived;
    while (arrived < count * round) std::this_thread::sleep_for(milliseconds(1));
  }
};

inline void publish_id(Shared& shared, int slot) {
  if (ncclGetUniqueId(&shared.id[slot]) != ncclSuccess) _exit(2);
  ++shared.ids;
}

inline void wait_for_ids(Shared const& shared, int count) {
  while (shared.ids < count) std::this_thread::sleep_for(milliseconds(1));
}

/// Runs body(rank, shared) in `count` processes; how each ended: its exit code, or -1 when it was
/// killed by a signal or had to be ended after `limit`.
inline std::vector<int> run(int count, std::function<void(int, Shared&)> const& body,
                            milliseconds limit = milliseconds(30000)) {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const shared = new (memory) Shared{};
  std::vector<pid_t> processes;
  for (int rank = 0; rank < count; ++rank) {
    pid_t const process = fork();
    if (process == 0) {
      body(rank, *shared);
      _exit(0);
    }
    processes.push_back(process);
  }
  auto const end = Clock::now() + limit;
  std::vector<int> results(processes.size(), -2);
  for (std::size_t left = processes.size(); left > 0;) {
    for (std::size_t i = 0; i < processes.size(); ++i) {
      int status = 0;
      if (results[i] != -2 || waitpid(processes[i], &status, WNOHANG) == 0) continue;
      results[i] = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      --left;
    }
    if (Clock::now() > end) {
      for (std::size_t i = 0; i < processes.size(); ++i) {
        if (results[i] == -2) kill(processes[i], SIGKILL);
      }
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  munmap(memory, sizeof(Shared));
  return results;
}

/// A rank's surroundings: a device of its own, and `per_host` ranks on each pretended host.
inline void settle(int rank, int per_host) {
  setenv("NCCL_HOSTID", ("host" + std::to_string(rank / per_host)).c_str(), 1);
  setenv("NCCL_RAS_ENABLE", "0", 0);
  cudaSetDevice(rank % per_host);
}

/// Starts init without waiting for it.
inline ncclComm_t begin(int rank, int size, ncclUniqueId const& id) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  ncclResult_t const result = ncclCommInitRankConfig(&comm, size, id, rank, &config);
  EXPECT_HERE(result == ncclInProgress);
  return comm;
}

/// The state once it is no longer ncclInProgress, or after `limit`.
inline ncclResult_t settled(ncclComm_t comm, milliseconds limit = milliseconds(20000)) {
  auto const end = Clock::now() + limit;
  ncclResult_t state = ncclInProgress;
  while (ncclCommGetAsyncError(comm, &state) == ncclSuccess && state == ncclInProgress &&
         Clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return state;
}

/// A nonblocking communicator of all ranks, ready; rank 0 makes the id.
inline ncclComm_t world(int rank, int size, Shared& shared) {
  if (rank == 0) publish_id(shared, 0);
  wait_for_ids(shared, 1);
  ncclComm_t const comm = begin(rank, size, shared.id[0]);
  EXPECT_HERE(settled(comm) == ncclSuccess);
  return comm;
}

/// True when the stream is empty before `limit` is over.
inline bool drains(cudaStream_t stream, milliseconds limit = milliseconds(20000)) {
  auto const end = Clock::now() + limit;
  while (cudaStreamQuery(stream) != cudaSuccess) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

/// One all-reduce of a float; the sum, or -1 when it did not end in time.
inline float sum_of_ones(ncclComm_t comm, cudaStream_t stream,
                         milliseconds limit = milliseconds(20000)) {
  static float value;
  value = 1;
  ncclResult_t const result = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, stream);
  if (result != ncclSuccess && result != ncclInProgress) return -1;
  if (settled(comm, limit) != ncclSuccess || !drains(stream, limit)) return -1;
  return value;
}

}  // namespace ranks
