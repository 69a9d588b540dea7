// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// What the header declares is what the library gives; all else stays inside.
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

/// A test double of the CUDA runtime for machines without a GPU: device memory is memory of the
/// process, a stream is a thread. Only the public API, and of that what programs under test need.
/// It has one state per process, as the library that it stands for has.
namespace berth::standin::cuda {

using Work = std::function<void()>;

/// Work in order on a thread of its own.
class Stream {
 public:
  Stream(int device, bool is_blocking);
  void add(Work work);
  [[nodiscard]] bool is_idle();
  void drain();  ///< returns when everything added so far is done

  /// Work goes into the recording instead of the thread while there is one.
  std::shared_ptr<std::vector<Work>> recording;
  [[nodiscard]] int device() const { return device_; }
  /// False: it does not wait for the default stream, nor that for it.
  [[nodiscard]] bool is_blocking() const { return is_blocking_; }

 private:
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Work> waiting;
    std::uint64_t added = 0;
    std::uint64_t done = 0;
  };
  static void serve(std::shared_ptr<Queue> const& queue);

  int device_;
  bool is_blocking_;
  std::shared_ptr<Queue> queue_;  ///< shared with the thread, which nobody waits for
};

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0;  ///< how often it was enqueued
  std::uint64_t reached = 0;
  std::int64_t nanoseconds = 0;  ///< when it was reached last
};

enum class Kind { device, managed, host, registered };

struct Block {
  std::size_t bytes = 0;
  Kind kind = Kind::device;
  int device = 0;
};

struct Device {
  std::string bus_id;
  std::uint8_t uuid[16] = {};
};

/// What a test wants to go wrong in this process.
struct Faults {
  int count_error = 0;      ///< of cudaGetDeviceCount; 0: none
  int sticky_error = 0;     ///< 0: none
  long sticky_at = 0;       ///< from this query or synchronize on
  long failing_malloc = 0;  ///< number of the cudaMalloc that fails; 0: none
};

/// Everything, made on first use and never destroyed: streams run until the process ends.
struct State {
  State();
  std::vector<Device> devices;
  Faults faults;
  std::mutex mutex;  ///< of what follows
  std::map<std::uintptr_t, Block> blocks;
  std::vector<std::unique_ptr<Stream>> streams;
  std::map<int, Stream*> default_streams;
  std::atomic<long> looks{0};    ///< queries and synchronizes so far
  std::atomic<long> mallocs{0};  ///< so far
  std::atomic<bool> is_broken{false};
};
State& state();

/// Remembers an error for cudaGetLastError of this thread and returns it.
cudaError_t note(cudaError_t error);
/// The sticky error, or success. Counts a look where `is_look`.
cudaError_t broken(bool is_look = false);
/// The calling thread's device.
int& current_device();

/// The stream behind a handle; the default one of the current device for null and cudaStreamLegacy.
Stream& stream_of(cudaStream_t handle);
/// Adds work in the order that CUDA's default stream demands.
void enqueue(Stream& stream, Work work);
/// Waits for all streams of a device.
void drain_device(int device);

}  // namespace berth::standin::cuda
