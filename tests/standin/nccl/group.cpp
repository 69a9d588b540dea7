// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "log.hpp"

namespace standin {
namespace {

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<std::unique_ptr<Task>> tasks;  ///< one for each communicator
  std::vector<std::shared_ptr<Communicator>> jobs;
};

thread_local Group group;

/// Launches the task, after connecting in a job when a partner is not connected yet. True: a job.
bool begin(std::unique_ptr<Task> task, ncclResult_t& result) {
  std::shared_ptr<Communicator> const communicator = task->communicator;
  std::vector<int> peers = partners(*communicator, task->operations);
  if (communicator->links().connected(peers)) {
    ncclResult_t const launched = communicator->launch(std::move(task));
    if (launched != ncclSuccess) result = launched;
    return false;
  }
  // std::function wants what can be copied.
  auto shared = std::make_shared<std::unique_ptr<Task>>(std::move(task));
  Communicator* const plain = communicator.get();
  communicator->start_job([plain, shared, peers = std::move(peers)] {
    plain->connect(peers);
    ncclResult_t const launched = plain->launch(std::move(*shared));
    if (launched != ncclSuccess) throw Failure{launched};
  });
  return true;
}

/// Waits for the jobs of blocking communicators; the others are to be polled.
ncclResult_t finish(std::vector<std::shared_ptr<Communicator>> const& jobs) {
  ncclResult_t result = ncclSuccess;
  for (auto const& each : jobs) {
    ncclResult_t const one = each->blocking() ? each->wait_for_job() : ncclInProgress;
    if (one != ncclSuccess && (result == ncclSuccess || result == ncclInProgress)) result = one;
  }
  return result;
}

}  // namespace

void group_start() {
  ++group.depth;
}

ncclResult_t group_end() {
  if (group.depth == 0) {
    warn("ncclGroupEnd: not in a group call.");
    return ncclInvalidUsage;
  }
  if (--group.depth > 0) return ncclSuccess;
  Group done = std::exchange(group, Group());
  if (done.error != ncclSuccess) return done.error;
  ncclResult_t result = ncclSuccess;
  for (auto& task : done.tasks) {
    std::shared_ptr<Communicator> const communicator = task->communicator;
    if (begin(std::move(task), result)) done.jobs.push_back(communicator);
  }
  ncclResult_t const finished = finish(done.jobs);
  return result != ncclSuccess ? result : finished;
}

ncclResult_t group_drop() {
  if (group.depth == 0) return ncclInvalidUsage;
  if (--group.depth == 0) group = Group();
  return ncclSuccess;
}

ncclResult_t enqueue(std::shared_ptr<Communicator> const& communicator,
                     Operation const& operation) {
  group_start();
  auto const found = std::find_if(group.tasks.begin(), group.tasks.end(), [&](auto const& each) {
    return each->communicator == communicator;
  });
  if (found != group.tasks.end()) {
    (*found)->operations.push_back(operation);
  } else {
    group.tasks.push_back(std::make_unique<Task>(Task{communicator, {operation}}));
  }
  return group_end();
}

ncclResult_t after_job(std::shared_ptr<Communicator> const& communicator) {
  if (group.depth > 0) {
    group.jobs.push_back(communicator);
    return ncclSuccess;
  }
  return communicator->blocking() ? communicator->wait_for_job() : ncclInProgress;
}

ncclResult_t spoil_group(ncclResult_t error) {
  if (group.depth > 0 && group.error == ncclSuccess) group.error = error;
  return error;
}

}  // namespace standin
