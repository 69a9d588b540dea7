// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// The stand-in for CUDA keeps to what CUDA promises, as far as tests lean on it.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

namespace {

#define GOOD(call) ASSERT_EQ(cudaSuccess, call)

/// Slow enough to be overtaken by whoever does not wait.
void nap(void* counter) {
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  if (counter != nullptr) ++*static_cast<std::atomic<int>*>(counter);
}

TEST(Cudart, KnowsWhereMemoryLies) {
  void* device = nullptr;
  void* host = nullptr;
  void* managed = nullptr;
  GOOD(cudaMalloc(&device, 1000));
  GOOD(cudaMallocHost(&host, 1000));
  GOOD(cudaMallocManaged(&managed, 1000, cudaMemAttachGlobal));
  int plain = 0;
  auto const type_of = [](void const* address) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaSuccess, cudaPointerGetAttributes(&attributes, address));
    return attributes.type;
  };
  EXPECT_EQ(type_of(device), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(static_cast<char*>(device) + 999), cudaMemoryTypeDevice) << "in its middle";
  EXPECT_EQ(type_of(host), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(&plain), cudaMemoryTypeUnregistered);
  GOOD(cudaHostRegister(&plain, sizeof plain, cudaHostRegisterDefault));
  EXPECT_EQ(type_of(&plain), cudaMemoryTypeHost);
  GOOD(cudaHostUnregister(&plain));
  GOOD(cudaFree(device));
  GOOD(cudaFree(managed));
  GOOD(cudaFreeHost(host));
  EXPECT_EQ(type_of(device), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(&plain), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Cudart, KeepsTheOrderOfAStream) {
  cudaStream_t stream = nullptr;
  GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<int> from(1000, 7);
  std::vector<int> to(1000, 0);
  void* device = nullptr;
  GOOD(cudaMalloc(&device, 4000));
  GOOD(cudaLaunchHostFunc(stream, nap, nullptr));
  GOOD(cudaMemcpyAsync(device, from.data(), 4000, cudaMemcpyDefault, stream));
  GOOD(cudaMemcpyAsync(to.data(), device, 4000, cudaMemcpyDefault, stream));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  GOOD(cudaStreamSynchronize(stream));
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(to, from);
  GOOD(cudaFree(device));
  GOOD(cudaStreamDestroy(stream));
}

TEST(Cudart, LetsTheDefaultStreamWaitForBlockingOnesAlone) {
  std::atomic<int> blocking{0};
  std::atomic<int> other{0};
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  GOOD(cudaStreamCreate(&first));
  GOOD(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  GOOD(cudaLaunchHostFunc(first, nap, &blocking));
  for (int i = 0; i < 20; ++i) GOOD(cudaLaunchHostFunc(second, nap, &other));
  int value = 0;
  int const one = 1;
  GOOD(cudaMemcpy(&value, &one, sizeof one, cudaMemcpyDefault));
  EXPECT_EQ(value, 1);
  EXPECT_EQ(blocking, 1);
  EXPECT_LT(other, 20);
  GOOD(cudaDeviceSynchronize());
  EXPECT_EQ(other, 20);
  GOOD(cudaStreamDestroy(first));
  GOOD(cudaStreamDestroy(second));
}

TEST(Cudart, MeasuresBetweenEventsAndWaitsForThem) {
  cudaStream_t stream = nullptr;
  cudaStream_t later = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  GOOD(cudaStreamCreateWithFlags(&later, cudaStreamNonBlocking));
  GOOD(cudaEventCreate(&start));
  GOOD(cudaEventCreate(&end));
  std::atomic<int> naps{0};
  GOOD(cudaEventRecord(start, stream));
  GOOD(cudaLaunchHostFunc(stream, nap, &naps));
  GOOD(cudaEventRecord(end, stream));
  GOOD(cudaStreamWaitEvent(later, end, 0));
  EXPECT_EQ(cudaEventQuery(end), cudaErrorNotReady);
  GOOD(cudaStreamSynchronize(later));
  EXPECT_EQ(naps, 1);
  float milliseconds = 0;
  GOOD(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 29);
  GOOD(cudaEventDestroy(start));
  GOOD(cudaEventDestroy(end));
  GOOD(cudaStreamDestroy(stream));
  GOOD(cudaStreamDestroy(later));
}

TEST(Cudart, ReplaysWhatWasRecorded) {
  cudaStream_t stream = nullptr;
  GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::atomic<int> naps{0};
  GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  GOOD(cudaLaunchHostFunc(stream, nap, &naps));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
  static_cast<void>(cudaGetLastError());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  GOOD(cudaStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  GOOD(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(naps, 0) << "recorded, not run";
  GOOD(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  for (int i = 0; i < 3; ++i) GOOD(cudaGraphLaunch(ready, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT_EQ(naps, 3);
  GOOD(cudaGraphExecDestroy(ready));
  GOOD(cudaGraphDestroy(graph));
  GOOD(cudaStreamDestroy(stream));
}

/// Runs `body` in a child with these variables; its exit code. CUDA is first touched there.
template <class Body>
int in_child(char const* name, char const* value, Body&& body) {
  pid_t const child = fork();
  if (child == 0) {
    setenv(name, value, 1);
    std::_Exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class InAChild : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("CUDART_TEST_FRESH") == nullptr) {
      GTEST_SKIP() << "runs in a process of its own, where CUDA is not in use yet";
    }
  }
};

TEST_F(InAChild, DevicesAreWhatTheEnvironmentSays) {
  auto const count = [] {
    int found = 0;
    return cudaGetDeviceCount(&found) == cudaSuccess ? found : 100;
  };
  EXPECT_EQ(in_child("STANDIN_CUDA_DEVICES", "5", count), 5);
  EXPECT_EQ(in_child("CUDA_VISIBLE_DEVICES", "", count), 100);
  setenv("STANDIN_CUDA_DEVICES", "4", 1);
  auto const second_bus = [] {
    char text[16];
    bool const good = cudaDeviceGetPCIBusId(text, sizeof text, 1) == cudaSuccess;
    return good && std::string(text) == "0000:07:00.0" ? 0 : 1;
  };
  EXPECT_EQ(in_child("CUDA_VISIBLE_DEVICES", "3,0", second_bus), 0);
}

TEST_F(InAChild, AStickyErrorStays) {
  auto const body = [] {
    if (cudaStreamQuery(nullptr) != cudaSuccess) return 1;
    if (cudaStreamQuery(nullptr) != cudaErrorIllegalAddress) return 2;
    void* memory = nullptr;
    if (cudaMalloc(&memory, 8) != cudaErrorIllegalAddress) return 3;
    if (cudaGetLastError() != cudaErrorIllegalAddress) return 4;
    return cudaGetLastError() == cudaErrorIllegalAddress ? 0 : 5;
  };
  EXPECT_EQ(in_child("STANDIN_CUDA_FAULTS", "0:sticky=700@2", body), 0);
}

TEST_F(InAChild, FaultsAreOfTheirRank) {
  auto const count = [] {
    int found = 0;
    return static_cast<int>(cudaGetDeviceCount(&found));
  };
  EXPECT_EQ(in_child("STANDIN_CUDA_FAULTS", "*:count=35", count), 35);
  EXPECT_EQ(in_child("STANDIN_CUDA_FAULTS", "7:count=35", count), 0);
  EXPECT_EQ(in_child("STANDIN_CUDA_FAULTS", "0:malloc_fails@1",
                     [] {
                       void* memory = nullptr;
                       if (cudaMalloc(&memory, 8) != cudaErrorMemoryAllocation) return 1;
                       return cudaMalloc(&memory, 8) == cudaSuccess ? 0 : 2;
                     }),
            0);
}

}  // namespace
