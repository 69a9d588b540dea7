// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#define EXPECT_CUDA(call) EXPECT_EQ((call), cudaSuccess)
#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess)

namespace berth::standin {

/// Work that is stuck in a stream until somebody opens the gate.
class Gate {
 public:
  Gate() = default;
  Gate(Gate const&) = delete;
  Gate& operator=(Gate const&) = delete;

  cudaError_t block(cudaStream_t stream) {
    return cudaLaunchHostFunc(
        stream, [](void* gate) { static_cast<Gate*>(gate)->open_.wait(0); }, this);
  }
  void open() {
    open_ = 1;
    open_.notify_all();
  }

 private:
  std::atomic<int> open_{0};
};

inline cudaStream_t new_stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

inline cudaEvent_t new_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, flags));
  return event;
}

template <typename T>
T* new_memory(std::size_t count) {
  void* at = nullptr;
  EXPECT_CUDA(cudaMalloc(&at, count * sizeof(T)));
  return static_cast<T*>(at);
}

/// Gives the stream a host function that adds `name` to `order`.
struct Note {
  std::vector<int>* order;
  int name;
  static void write(void* data) {
    auto const* const note = static_cast<Note*>(data);
    note->order->push_back(note->name);
  }
};

}  // namespace berth::standin
