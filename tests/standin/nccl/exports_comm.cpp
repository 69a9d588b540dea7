// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Exported functions that make and end communicators.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "faults.hpp"
#include "group.hpp"
#include "handle.hpp"
#include "settings.hpp"

namespace standin {
namespace {

std::atomic<int> ids_asked = 0;

bool blocking_of(ncclConfig_t const* config, bool otherwise) {
  if (config == nullptr) return otherwise;
  if (config->magic != 0xcafebeef) {
    fail(ncclInvalidArgument, "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  }
  if (config->blocking == NCCL_CONFIG_UNDEF_INT) return otherwise;
  if (config->blocking != 0 && config->blocking != 1) {
    fail(ncclInvalidArgument, text("Invalid config blocking attribute value %d", config->blocking));
  }
  return config->blocking == 1;
}

int current_device() {
  int device = 0;
  cudaError_t const error = cudaGetDevice(&device);
  if (error != cudaSuccess) {
    fail(ncclUnhandledCudaError, "Cuda failure '" + std::string(cudaGetErrorString(error)) + "'");
  }
  log_device(device);
  return device;
}

ncclResult_t start(ncclComm_t* result, int ranks, std::vector<Id> ids, int rank,
                   ncclConfig_t const* config) {
  if (result == nullptr) fail(ncclInvalidArgument, "comm argument is NULL");
  *result = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    fail(ncclInvalidArgument, text("Invalid rank requested : %d/%d", rank, ranks));
  }
  bool const blocking = blocking_of(config, nccl_integer("NCCL_COMM_BLOCKING", 1) != 0);
  int const device = current_device();
  if (rank == 0) say_version();
  if (!setting("NCCL_COMM_ID").empty()) ids.resize(1);
  auto const communicator = std::make_shared<Communicator>(rank, ranks, device, blocking);
  *result = make_handle(communicator);
  Communicator* const plain = communicator.get();
  communicator->start_job([plain, ids = std::move(ids)] { plain->init(ids); });
  ncclResult_t const state = after_job(communicator);
  if (state == ncclSuccess || state == ncclInProgress) return state;
  communicator->abort();
  free_handle(*result);
  *result = nullptr;
  return state;
}

/// A job on the parent writes the child where the caller wants it.
template <typename Make>
ncclResult_t start_child(std::shared_ptr<Communicator> const& parent, ncclComm_t* result,
                         Make make) {
  *result = nullptr;
  parent->start_job([result, make] { *result = make_handle(make()); });
  ncclResult_t const state = after_job(parent);
  return state == ncclInProgress ? ncclSuccess : state;
}

/// The result of a call whose job may still run.
ncclResult_t run_job(std::shared_ptr<Communicator> const& communicator,
                     std::function<void()> work) {
  communicator->start_job(std::move(work));
  return after_job(communicator);
}

}  // namespace
}  // namespace standin

using standin::Communicator;

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return standin::guarded([&] {
    if (id == nullptr) standin::fail(ncclInvalidArgument, "GetUniqueId : out argument is NULL");
    if (standin::id_fails(++standin::ids_asked)) {
      standin::fail(ncclSystemError, "no id, as STANDIN_NCCL_FAULTS wants");
    }
    *id = standin::make_id();
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclGetUniqueId);

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank) {
  return standin::guarded(
      [&] { return standin::start(comm, nranks, {standin::read_id(id)}, rank, nullptr); });
}
STANDIN_TWIN(ncclCommInitRank);

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return standin::guarded(
      [&] { return standin::start(comm, nranks, {standin::read_id(id)}, rank, config); });
}
STANDIN_TWIN(ncclCommInitRankConfig);

ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int nranks, int rank, int id_count,
                                      ncclUniqueId* bytes, ncclConfig_t* config) {
  return standin::guarded([&] {
    if (bytes == nullptr || id_count < 1 || id_count > nranks) {
      standin::fail(ncclInvalidArgument,
                    standin::text("nId %d is not between 1 and nranks %d", id_count, nranks));
    }
    std::vector<standin::Id> ids;
    for (int i = 0; i < id_count; ++i) ids.push_back(standin::read_id(bytes[i]));
    return standin::start(comm, nranks, std::move(ids), rank, config);
  });
}
STANDIN_TWIN(ncclCommInitRankScalable);

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ndev, int const* devices) {
  return standin::guarded([&] {
    if (comms == nullptr || ndev < 1) standin::fail(ncclInvalidArgument, "Invalid device count");
    int before = standin::current_device();
    standin::Id const id = standin::read_id(standin::make_id());
    standin::group_start();
    for (int rank = 0; rank < ndev; ++rank) {
      cudaSetDevice(devices == nullptr ? rank : devices[rank]);
      standin::start(&comms[rank], ndev, {id}, rank, nullptr);
    }
    cudaSetDevice(before);
    return standin::group_end();
  });
}
STANDIN_TWIN(ncclCommInitAll);

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return standin::guarded([&] {
    if (error == nullptr) standin::fail(ncclInvalidArgument, "asyncError argument is NULL");
    *error = standin::communicator_of(comm)->state();
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommGetAsyncError);

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return standin::guarded([&] {
    if (comm == nullptr) return ncclSuccess;
    auto const communicator = standin::ready_communicator(comm);
    if (!communicator->usable()) {
      standin::fail(ncclInvalidArgument, "comm was finalized or revoked before");
    }
    communicator->mark_finalized();
    Communicator* const plain = communicator.get();
    return standin::run_job(communicator, [plain] { plain->flush(); });
  });
}
STANDIN_TWIN(ncclCommFinalize);

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return standin::guarded([&] {
    if (comm == nullptr) return ncclSuccess;
    standin::ready_communicator(comm)->destroy();
    standin::free_handle(comm);
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommDestroy);

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return standin::guarded([&] {
    if (comm == nullptr) return ncclSuccess;
    standin::communicator_of(comm)->abort();
    standin::free_handle(comm);
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommAbort);

ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  return standin::guarded([&] {
    auto const communicator = standin::communicator_of(comm);
    if (flags != NCCL_REVOKE_DEFAULT) standin::fail(ncclInvalidArgument, "revokeFlags is not 0");
    // What failed before stays failed; it only stops.
    if (communicator->state() != ncclSuccess) {
      communicator->quiesce();
      return ncclSuccess;
    }
    Communicator* const plain = communicator.get();
    return standin::run_job(communicator, [plain] { plain->quiesce(); });
  });
}
STANDIN_TWIN(ncclCommRevoke);

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* result,
                           ncclConfig_t* config) {
  return standin::guarded([&] {
    auto const parent = standin::ready_communicator(comm);
    if (result == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR)) {
      standin::fail(ncclInvalidArgument, "newcomm argument is NULL, or color is negative");
    }
    bool const blocking = standin::blocking_of(config, parent->blocking());
    Communicator* const plain = parent.get();
    return standin::start_child(parent, result, [plain, color, key, blocking] {
      return plain->split(color, key, blocking);
    });
  });
}
STANDIN_TWIN(ncclCommSplit);

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* result,
                            ncclConfig_t* config, int flags) {
  return standin::guarded([&] {
    auto const parent = standin::ready_communicator(comm);
    if (result == nullptr || excluded == nullptr || count < 1) {
      standin::fail(ncclInvalidArgument,
                    "newcomm or excludeRanksList is NULL, or no rank is in it");
    }
    std::vector<int> const ranks(excluded, excluded + count);
    if (std::find(ranks.begin(), ranks.end(), parent->rank()) != ranks.end()) {
      standin::fail(ncclInvalidArgument, "an excluded rank calls ncclCommShrink");
    }
    bool const blocking = standin::blocking_of(config, parent->blocking());
    bool const interrupt = (flags & NCCL_SHRINK_ABORT) != 0;
    Communicator* const plain = parent.get();
    return standin::start_child(parent, result, [plain, ranks, blocking, interrupt] {
      if (interrupt) plain->quiesce();
      return plain->shrink(ranks, blocking);
    });
  });
}
STANDIN_TWIN(ncclCommShrink);
