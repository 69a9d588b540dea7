// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "cudart_test.hpp"

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include <unistd.h>

namespace berth::standin {
namespace {

TEST(StandinDevices, SayWhoTheyAre) {
  int count = 0;
  ASSERT_CUDA(cudaGetDeviceCount(&count));
  ASSERT_EQ(count, 1);
  cudaDeviceProp all;
  ASSERT_CUDA(cudaGetDeviceProperties(&all, 0));
  EXPECT_EQ(all.major, 9);
  EXPECT_EQ(all.pciBusID, 7);
  EXPECT_EQ(all.warpSize, 32);
  int value = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(value, all.multiProcessorCount);
  char bus_id[16];
  ASSERT_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
  EXPECT_STREQ(bus_id, "0000:07:00.0");
  int device = -1;
  EXPECT_CUDA(cudaDeviceGetByPCIBusId(&device, "07:00.0"));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "0000:99:00.0"), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaRuntimeGetVersion(&value));
  EXPECT_EQ(value, CUDART_VERSION);
}

TEST(StandinErrors, AreKeptUntilTheyAreAskedFor) {
  cudaGetLastError();
  EXPECT_EQ(cudaSetDevice(77), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

cudaMemoryType type_of(void const* at) {
  cudaPointerAttributes all;
  EXPECT_CUDA(cudaPointerGetAttributes(&all, at));
  return all.type;
}

TEST(StandinMemory, IsKnownByAnyPointerIntoIt) {
  char* const device = new_memory<char>(1000);
  void* host = nullptr;
  ASSERT_CUDA(cudaMallocHost(&host, 100));
  void* managed = nullptr;
  ASSERT_CUDA(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal));
  std::vector<char> own(3 * 4096);
  EXPECT_EQ(type_of(own.data() + 5000), cudaMemoryTypeUnregistered);
  ASSERT_CUDA(cudaHostRegister(own.data(), own.size(), cudaHostRegisterDefault));
  EXPECT_EQ(type_of(own.data() + 5000), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(device), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(device + 999), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(device + 1000), cudaMemoryTypeUnregistered);
  EXPECT_EQ(type_of(static_cast<char*>(host) + 99), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(static_cast<char*>(managed) + 99), cudaMemoryTypeManaged);
  cudaPointerAttributes all;
  ASSERT_CUDA(cudaPointerGetAttributes(&all, device + 10));
  EXPECT_EQ(all.devicePointer, device + 10);
  EXPECT_EQ(all.hostPointer, nullptr);
  EXPECT_EQ(cudaHostRegister(own.data(), 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_CUDA(cudaHostUnregister(own.data()));
  EXPECT_EQ(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFreeHost(host));
  EXPECT_CUDA(cudaFree(managed));
  EXPECT_CUDA(cudaFree(device));
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  EXPECT_EQ(type_of(device), cudaMemoryTypeUnregistered);
}

TEST(StandinMemory, IsCopiedAndSetWithinItsBounds) {
  int* const a = new_memory<int>(1000);
  int* const b = new_memory<int>(1000);
  std::vector<int> in(1000, 42);
  std::vector<int> out(1000, 0);
  size_t const bytes = 4000;
  ASSERT_CUDA(cudaMemcpy(a, in.data(), bytes, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemset(a + 10, 0, 4));
  ASSERT_CUDA(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, nullptr));
  ASSERT_CUDA(cudaMemcpy(out.data(), b, bytes, cudaMemcpyDefault));
  in[10] = 0;
  EXPECT_EQ(in, out);
  EXPECT_EQ(cudaMemcpy(a, in.data(), bytes + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a + 1, in.data(), bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, b, bytes, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(out.data(), 0, 4), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFree(a));
  EXPECT_CUDA(cudaFree(b));
}

TEST(StandinMemory, IsCountedAndRunsOut) {
  size_t before = 0;
  size_t total = 0;
  ASSERT_CUDA(cudaMemGetInfo(&before, &total));
  void* at = nullptr;
  EXPECT_EQ(cudaMalloc(&at, total + 1), cudaErrorMemoryAllocation);
  ASSERT_CUDA(cudaMallocAsync(&at, 1 << 20, nullptr));
  size_t now = 0;
  ASSERT_CUDA(cudaMemGetInfo(&now, &total));
  EXPECT_EQ(before - now, size_t{1} << 20);
  ASSERT_CUDA(cudaFreeAsync(at, nullptr));
  EXPECT_EQ(cudaFreeAsync(at, nullptr), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaDeviceSynchronize());
  ASSERT_CUDA(cudaMemGetInfo(&now, &total));
  EXPECT_EQ(before, now);
}

TEST(StandinMemory, GivenPageableIsReadBeforeTheCallReturns) {
  cudaStream_t const stream = new_stream();
  Gate gate;
  int* const device = new_memory<int>(1);
  ASSERT_CUDA(gate.block(stream));
  int value = 5;
  ASSERT_CUDA(cudaMemcpyAsync(device, &value, sizeof value, cudaMemcpyHostToDevice, stream));
  value = 6;
  gate.open();
  ASSERT_CUDA(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(value, 5);
  EXPECT_CUDA(cudaFree(device));
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(StandinStreams, KeepTheirOrder) {
  cudaStream_t const stream = new_stream();
  std::vector<int> order;
  std::vector<Note> notes;
  for (int i = 0; i < 100; ++i) notes.push_back({&order, i});
  Gate gate;
  ASSERT_CUDA(gate.block(stream));
  for (Note& note : notes) ASSERT_CUDA(cudaLaunchHostFunc(stream, &Note::write, &note));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_TRUE(order.empty());
  gate.open();
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaStreamQuery(stream));
  ASSERT_EQ(order.size(), notes.size());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_CUDA(cudaStreamDestroy(stream));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
}

TEST(StandinStreams, OfTheDefaultKindWaitForTheLegacyOneAndItForThem) {
  cudaStream_t const blocking = new_stream();
  cudaStream_t const apart = new_stream(cudaStreamNonBlocking);
  std::vector<int> order;
  Note first = {&order, 1};
  Note second = {&order, 2};
  Gate gate;
  ASSERT_CUDA(gate.block(blocking));
  ASSERT_CUDA(cudaLaunchHostFunc(nullptr, &Note::write, &first));
  ASSERT_CUDA(cudaLaunchHostFunc(blocking, &Note::write, &second));
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_CUDA(cudaStreamSynchronize(apart));  // has nothing to do with them
  gate.open();
  ASSERT_CUDA(cudaStreamSynchronize(blocking));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  Gate other;
  ASSERT_CUDA(other.block(apart));
  EXPECT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
  other.open();
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaStreamDestroy(blocking));
  EXPECT_CUDA(cudaStreamDestroy(apart));
}

TEST(StandinStreams, LetHostFunctionsMakeNoCalls) {
  cudaError_t seen = cudaSuccess;
  auto const ask = [](void* answer) {
    *static_cast<cudaError_t*>(answer) = cudaDeviceSynchronize();
  };
  ASSERT_CUDA(cudaLaunchHostFunc(nullptr, ask, &seen));
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(seen, cudaErrorNotPermitted);
}

TEST(StandinStreams, KeepPriorityWithinTheRange) {
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
  int priority = 0;
  unsigned flags = 0;
  EXPECT_CUDA(cudaStreamGetPriority(stream, &priority));
  EXPECT_CUDA(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(priority, -5);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(StandinEvents, JoinStreamsAndMeasureTime) {
  cudaStream_t const a = new_stream(cudaStreamNonBlocking);
  cudaStream_t const b = new_stream(cudaStreamNonBlocking);
  cudaEvent_t const start = new_event();
  cudaEvent_t const end = new_event();
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventQuery(start));
  std::vector<int> order;
  Note first = {&order, 1};
  Note second = {&order, 2};
  Gate gate;
  ASSERT_CUDA(cudaEventRecord(start, a));
  ASSERT_CUDA(cudaEventSynchronize(start));  // a loaded machine may be late with it
  ASSERT_CUDA(gate.block(a));
  ASSERT_CUDA(cudaLaunchHostFunc(a, &Note::write, &first));
  ASSERT_CUDA(cudaEventRecord(end, a));
  ASSERT_CUDA(cudaStreamWaitEvent(b, end, 0));
  ASSERT_CUDA(cudaLaunchHostFunc(b, &Note::write, &second));
  EXPECT_EQ(cudaEventQuery(end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  gate.open();
  ASSERT_CUDA(cudaStreamSynchronize(b));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  ASSERT_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 2.0F);
  ASSERT_CUDA(cudaEventElapsedTime(&milliseconds, end, start));
  EXPECT_LE(milliseconds, -2.0F);
  for (cudaEvent_t const event : {start, end}) EXPECT_CUDA(cudaEventDestroy(event));
  for (cudaStream_t const stream : {a, b}) EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(StandinEvents, WithoutTimingMeasureNothing) {
  cudaEvent_t const event = new_event(cudaEventDisableTiming);
  ASSERT_CUDA(cudaEventRecord(event, nullptr));
  ASSERT_CUDA(cudaEventSynchronize(event));
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventDestroy(event));
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
}

// Through a variable of the environment, to the process of a death test.
template <typename Handle>
void pass_on(char const* name, Handle const& handle) {
  std::string text;
  for (char const byte : handle.reserved) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += two;
  }
  setenv(name, text.c_str(), 0);  // the process that gets it must not change it
}

template <typename Handle>
Handle passed_on(char const* name) {
  Handle handle = {};
  std::string const text = std::getenv(name);
  for (size_t i = 0; i < sizeof handle.reserved; ++i) {
    handle.reserved[i] =
        static_cast<char>(std::strtoul(text.substr(2 * i, 2).c_str(), nullptr, 16));
  }
  return handle;
}

// In the other process: 0 if all was as it should be.
int use_what_was_passed_on() {
  void* at = nullptr;
  void* again = nullptr;
  auto const memory = passed_on<cudaIpcMemHandle_t>("STANDIN_TEST_MEMORY");
  unsigned const flags = cudaIpcMemLazyEnablePeerAccess;
  if (cudaIpcOpenMemHandle(&at, memory, flags) != cudaSuccess) return 1;
  if (cudaIpcOpenMemHandle(&again, memory, flags) != cudaSuccess || again != at) return 2;
  if (type_of(static_cast<int*>(at) + 99) != cudaMemoryTypeDevice) return 3;
  cudaEvent_t event = nullptr;
  auto const ticket = passed_on<cudaIpcEventHandle_t>("STANDIN_TEST_EVENT");
  if (cudaIpcOpenEventHandle(&event, ticket) != cudaSuccess) return 4;
  if (cudaEventSynchronize(event) != cudaSuccess) return 5;
  int value = 0;
  if (cudaMemcpy(&value, at, sizeof value, cudaMemcpyDefault) != cudaSuccess) return 6;
  ++value;
  if (cudaMemcpy(at, &value, sizeof value, cudaMemcpyDefault) != cudaSuccess) return 7;
  if (cudaIpcCloseMemHandle(at) != cudaSuccess || cudaIpcCloseMemHandle(at) != cudaSuccess) {
    return 8;
  }
  return cudaIpcCloseMemHandle(at) == cudaErrorInvalidValue ? 0 : 9;
}

TEST(StandinIpcDeathTest, SharesMemoryAndEventsWithAnotherProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int* const at = new_memory<int>(100);
  cudaIpcMemHandle_t memory;
  ASSERT_CUDA(cudaIpcGetMemHandle(&memory, at + 1));
  void* own = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&own, memory, cudaIpcMemLazyEnablePeerAccess),
            cudaErrorDeviceUninitialized);
  cudaEvent_t const event = new_event(cudaEventDisableTiming | cudaEventInterprocess);
  cudaIpcEventHandle_t ticket;
  ASSERT_CUDA(cudaIpcGetEventHandle(&ticket, event));
  int value = 41;
  ASSERT_CUDA(cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaEventRecord(event, nullptr));
  pass_on("STANDIN_TEST_MEMORY", memory);
  pass_on("STANDIN_TEST_EVENT", ticket);
  EXPECT_EXIT(std::exit(use_what_was_passed_on()), testing::ExitedWithCode(0), "");
  ASSERT_CUDA(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 42);
  EXPECT_CUDA(cudaFree(at));
  EXPECT_CUDA(cudaEventDestroy(event));
  unsetenv("STANDIN_TEST_MEMORY");
  unsetenv("STANDIN_TEST_EVENT");
}

}  // namespace
}  // namespace berth::standin
