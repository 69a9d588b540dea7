// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include <unistd.h>

#include <sys/wait.h>

#include "cudart_test.hpp"

// The environment is read once in a process, so each of these starts a fresh one: a death test of
// the threadsafe kind. What a process finds wrong is its exit code.
namespace berth::standin {
namespace {

using Variables = std::vector<std::pair<char const*, char const*>>;

[[noreturn]] void leave_with(Variables const& variables, std::function<int()> const& check) {
  for (auto const& [name, value] : variables) setenv(name, value, 1);
  std::exit(check());
}

class StandinDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

#define EXPECT_RIGHT(variables, check) \
  EXPECT_EXIT(leave_with(variables, check), testing::ExitedWithCode(0), "")

std::string bus_id_of(int device) {
  char text[16] = {};
  return cudaDeviceGetPCIBusId(text, sizeof text, device) == cudaSuccess ? text : "";
}

TEST_F(StandinDeathTest, DevicesAreThoseOfTheEnvironment) {
  Variables const four = {{"STANDIN_CUDA_DEVICES", "4"},
                          {"STANDIN_CUDA_BUS_IDS", "0001:aa:00.0"},
                          {"STANDIN_CUDA_UUIDS", "GPU-00112233-4455-6677-8899-aabbccddeeff"},
                          {"CUDA_VISIBLE_DEVICES", "2,GPU-0011,7,3"}};
  EXPECT_RIGHT(four, [] {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count != 2) return 1;
    if (bus_id_of(0) != "0000:17:00.0" || bus_id_of(1) != "0001:aa:00.0") return 2;
    cudaDeviceProp all;
    if (cudaGetDeviceProperties(&all, 1) != cudaSuccess) return 3;
    if (all.uuid.bytes[1] != 0x11 || all.pciDomainID != 1) return 4;
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, 0, 1) != cudaSuccess || can != 1) return 5;
    if (cudaDeviceEnablePeerAccess(1, 0) != cudaSuccess) return 6;
    return cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled ? 0 : 7;
  });
  Variables const none = {{"CUDA_VISIBLE_DEVICES", ""}};
  EXPECT_RIGHT(none, [] {
    int count = 5;
    if (cudaGetDeviceCount(&count) != cudaErrorNoDevice || count != 0) return 1;
    return cudaSetDevice(0) == cudaErrorNoDevice ? 0 : 2;
  });
}

TEST_F(StandinDeathTest, StreamsAndMemoryBelongToTheirDevice) {
  Variables const two = {{"STANDIN_CUDA_DEVICES", "2"}};
  EXPECT_RIGHT(two, [] {
    cudaStream_t const first = new_stream();
    if (cudaSetDevice(1) != cudaSuccess) return 1;
    cudaEvent_t const event = new_event();
    if (cudaEventRecord(event, first) != cudaErrorInvalidResourceHandle) return 2;
    cudaPointerAttributes all;
    int* const at = new_memory<int>(1);
    if (cudaPointerGetAttributes(&all, at) != cudaSuccess || all.device != 1) return 3;
    Gate gate;  // on device 0
    if (gate.block(first) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 4;
    gate.open();
    return cudaDeviceReset() == cudaSuccess && cudaFree(at) == cudaErrorInvalidValue ? 0 : 5;
  });
}

TEST_F(StandinDeathTest, CountFails) {
  Variables const no_driver = {{"STANDIN_CUDA_FAULTS", "0:count=35"}};
  EXPECT_RIGHT(no_driver, [] {
    int count = 5;
    int version = 5;
    if (cudaGetDeviceCount(&count) != cudaErrorInsufficientDriver || count != 0) return 1;
    if (cudaDriverGetVersion(&version) != cudaSuccess || version != 0) return 2;
    void* at = nullptr;
    return cudaMalloc(&at, 1) == cudaErrorInsufficientDriver ? 0 : 3;
  });
  Variables const zero = {{"STANDIN_CUDA_FAULTS", "*:count=0"}};
  EXPECT_RIGHT(zero, [] {
    int count = 5;
    return cudaGetDeviceCount(&count) == cudaSuccess && count == 0 ? 0 : 1;
  });
}

TEST_F(StandinDeathTest, StickyErrorStaysForEver) {
  Variables const third = {{"OMPI_COMM_WORLD_RANK", "3"},
                           {"STANDIN_CUDA_FAULTS", "2:count=0; 3:sticky=700@3"}};
  EXPECT_RIGHT(third, [] {
    cudaStream_t const stream = new_stream();
    if (cudaStreamQuery(stream) != cudaSuccess) return 1;
    if (cudaStreamSynchronize(stream) != cudaSuccess) return 2;
    if (cudaStreamQuery(stream) != cudaErrorIllegalAddress) return 3;
    void* at = nullptr;
    if (cudaMalloc(&at, 1) != cudaErrorIllegalAddress) return 4;
    if (cudaStreamDestroy(stream) != cudaErrorIllegalAddress) return 5;
    if (cudaGetLastError() != cudaErrorIllegalAddress) return 6;
    return cudaGetLastError() == cudaErrorIllegalAddress ? 0 : 7;
  });
}

TEST_F(StandinDeathTest, SetDeviceAndMallocFail) {
  Variables const both = {{"STANDIN_CUDA_FAULTS", "0:set_device_fails=46;0:malloc_fails@2"}};
  EXPECT_RIGHT(both, [] {
    void* at = nullptr;
    if (cudaSetDevice(0) != cudaErrorDevicesUnavailable) return 1;
    if (cudaMalloc(&at, 1) != cudaSuccess) return 2;
    if (cudaMalloc(&at, 1) != cudaErrorMemoryAllocation) return 3;
    return cudaMalloc(&at, 1) == cudaSuccess ? 0 : 4;
  });
}

TEST_F(StandinDeathTest, BadTextEndsTheProcess) {
  auto const use = [](char const* name, char const* text) {
    setenv(name, text, 1);
    int count = 0;
    cudaGetDeviceCount(&count);
  };
  EXPECT_DEATH(use("STANDIN_CUDA_FAULTS", "1:coutn=3"), "\"1:coutn=3\" is not understood");
  EXPECT_DEATH(use("STANDIN_CUDA_FAULTS", "0:sticky=700"), "is not understood");
  EXPECT_DEATH(use("STANDIN_CUDA_DEVICES", "many"), "STANDIN_CUDA_DEVICES=many");
}

TEST_F(StandinDeathTest, DamageBehindAnAllocationEndsTheProcess) {
  auto const damage = [] {
    char* const at = new_memory<char>(10);
    at[10] = 1;
    cudaFree(at);
  };
  EXPECT_DEATH(damage(), "behind the 10 bytes");
}

TEST_F(StandinDeathTest, StuckStreamDoesNotKeepTheProcess) {
  EXPECT_RIGHT(Variables{}, [] {
    static Gate gate;  // never opened
    cudaStream_t const stream = new_stream();
    cudaEvent_t const event = new_event();
    if (gate.block(stream) != cudaSuccess) return 1;
    if (cudaEventRecord(event, stream) != cudaSuccess) return 2;
    return cudaEventQuery(event) == cudaErrorNotReady ? 0 : 3;
  });
}

TEST(StandinFork, LeavesTheChildWithoutCuda) {
  ASSERT_CUDA(cudaDeviceSynchronize());
  pid_t const child = fork();
  if (child == 0) {
    _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace berth::standin
