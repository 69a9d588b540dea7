// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Operations of a communicator on their way through a stream.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <unistd.h>

#include "communicator.hpp"
#include "log.hpp"

namespace standin {
namespace {

/// A graph may run its tasks as often as it likes, so they stay until the process ends.
void keep_for_ever(std::unique_ptr<Task> task) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<Task>>;
  std::lock_guard const lock(mutex);
  kept->push_back(std::move(task));
}

void run_kept(void* pointer) {
  auto const* const task = static_cast<Task const*>(pointer);
  task->communicator->run(*task);
}

ncclResult_t cuda_failed(cudaError_t error) {
  warn("Cuda failure '" + std::string(cudaGetErrorString(error)) + "'");
  return ncclUnhandledCudaError;
}

}  // namespace

ncclResult_t Communicator::launch(std::unique_ptr<Task> task) {
  cudaStream_t const main = task->operations.front().stream;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(main, &capture);
  if (error != cudaSuccess) return cuda_failed(error);
  if (capture != cudaStreamCaptureStatusNone) return launch_captured(std::move(task));
  if (order_ == nullptr) {
    error = cudaEventCreateWithFlags(&order_, cudaEventDisableTiming);
    if (error != cudaSuccess) return cuda_failed(error);
  } else if (last_stream_ != main) {
    cudaStreamWaitEvent(main, order_, 0);
  }
  join_streams(*task, main);
  {
    std::lock_guard const lock(mutex_);
    ++pending_;
  }
  std::vector<Operation> const operations = task->operations;
  Task* const plain = task.release();
  error = cudaLaunchHostFunc(
      main,
      [](void* pointer) {
        std::unique_ptr<Task> const mine(static_cast<Task*>(pointer));
        mine->communicator->run(*mine);
        mine->communicator->task_done();
      },
      plain);
  if (error != cudaSuccess) {
    std::unique_ptr<Task> const unused(plain);
    task_done();
    return cuda_failed(error);
  }
  cudaEventRecord(order_, main);
  for (Operation const& each : operations) {
    if (each.stream != main) cudaStreamWaitEvent(each.stream, order_, 0);
  }
  last_stream_ = main;
  return ncclSuccess;
}

/// Under capture the order between streams is what the caller's own events say.
ncclResult_t Communicator::launch_captured(std::unique_ptr<Task> task) {
  Task* const plain = task.get();
  keep_for_ever(std::move(task));
  cudaError_t const error = cudaLaunchHostFunc(plain->operations.front().stream, run_kept, plain);
  return error == cudaSuccess ? ncclSuccess : cuda_failed(error);
}

/// A group's operations may be on several streams; the task starts when all of them have come to
/// it.
void Communicator::join_streams(Task const& task, cudaStream_t main) {
  for (Operation const& each : task.operations) {
    if (each.stream == main) continue;
    cudaEventRecord(order_, each.stream);
    cudaStreamWaitEvent(main, order_, 0);
  }
}

void Communicator::task_done() {
  std::lock_guard const lock(mutex_);
  --pending_;
  changed_.notify_all();
}

void Communicator::run(Task const& task) {
  std::lock_guard const lock(running_);
  if (interrupt_.raised()) return;
  log_device(device_);
  try {
    run_all(task);
  } catch (Stopped const&) {
    return;
  } catch (Failure const& failure) {
    set_error(failure.result);
    // The kernel of an operation that failed spins until the communicator is aborted.
    try {
      interrupt_.park();
    } catch (Stopped const&) {
      return;
    }
  }
}

void Communicator::run_all(Task const& task) {
  for (Operation const& each : task.operations) {
    if (is_pair(each)) continue;
    long long const number = ++operations_;
    misbehave_before(number);
    run_collective(*this, each, interrupt_);
    misbehave_after(each, number);
  }
  std::vector<Operation> pairs;
  std::copy_if(task.operations.begin(), task.operations.end(), std::back_inserter(pairs), is_pair);
  if (pairs.empty()) return;
  long long const before = operations_;
  operations_ += static_cast<long long>(pairs.size());
  for (long long number = before + 1; number <= operations_; ++number) misbehave_before(number);
  run_pairs(*this, pairs, interrupt_);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    misbehave_after(pairs[i], before + 1 + static_cast<long long>(i));
  }
}

void Communicator::misbehave_before(long long operation) const {
  if (faults_.find("die", operation) != nullptr) _exit(1);
  if (Fault const* const late = faults_.find("late_ms", operation)) {
    interrupt_.sleep_ms(late->value);
  }
}

void Communicator::misbehave_after(Operation const& operation, long long number) {
  if (faults_.find("wrong_bit", number) != nullptr) {
    std::size_t bytes = 0;
    std::byte* const result = result_of(*this, operation, bytes);
    if (result != nullptr && bytes > 0) result[bytes / 2] ^= std::byte{0x10};
  }
  if (Fault const* const error = faults_.find("async", number)) {
    warn("async error as STANDIN_NCCL_FAULTS wants");
    set_error(static_cast<ncclResult_t>(error->value));
  }
}

ncclRedOp_t Communicator::add_reduction(Reduction const& reduction) {
  std::lock_guard const lock(mutex_);
  reductions_[next_reduction_] = reduction;
  return static_cast<ncclRedOp_t>(next_reduction_++);
}

bool Communicator::remove_reduction(ncclRedOp_t op) {
  std::lock_guard const lock(mutex_);
  return reductions_.erase(op) == 1;
}

bool Communicator::find_reduction(ncclRedOp_t op, Reduction& reduction) const {
  reduction.op = op;
  if (op >= ncclSum && op < ncclNumOps) return true;
  std::lock_guard const lock(mutex_);
  auto const found = reductions_.find(op);
  if (found == reductions_.end()) return false;
  reduction = found->second;
  return true;
}

}  // namespace standin
