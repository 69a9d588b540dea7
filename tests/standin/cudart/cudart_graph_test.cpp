// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "cudart_test.hpp"
#include "standin_kernels.hpp"

// What nvcc writes into a program; here by hand, since the tests are built without it.
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, char const*, char*, char const*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, char const*, int, size_t, int, int);
}

namespace berth::standin {
namespace {

char const add_symbol = 0;
char const plain_symbol = 0;
char variable_symbol = 0;

void add_on_host(dim3 grid, dim3 block, int* at, int value) {
  *at += value * static_cast<int>(grid.x * block.x);
}

void plain_on_host(dim3, dim3, void** args) {
  **static_cast<int**>(args[0]) = 7;
}

class StandinKernels : public testing::Test {
 protected:
  void SetUp() override {
    binary_ = __cudaRegisterFatBinary(nullptr);
    enroll(&add_symbol, "add");
    enroll(&plain_symbol, "plain");
    at_ = new_memory<int>(1);
    ASSERT_CUDA(cudaMemset(at_, 0, sizeof(int)));
    ASSERT_CUDA(cudaDeviceSynchronize());
  }
  void TearDown() override {
    EXPECT_CUDA(cudaFree(at_));
    __cudaUnregisterFatBinary(binary_);
    standin_register_kernel("add", nullptr);
    standin_register_kernel("plain", nullptr);
  }
  void enroll(char const* symbol, char const* name) {
    __cudaRegisterFunction(binary_, symbol, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  }
  cudaError_t add(int value, cudaStream_t stream, dim3 grid = 2, dim3 block = 3) {
    void* arguments[] = {&at_, &value};
    return cudaLaunchKernel(&add_symbol, grid, block, arguments, 0, stream);
  }
  int value() {
    int now = 0;
    EXPECT_CUDA(cudaMemcpy(&now, at_, sizeof now, cudaMemcpyDeviceToHost));
    return now;
  }

  void** binary_ = nullptr;
  int* at_ = nullptr;
};

TEST_F(StandinKernels, RunTheirHostVersionsInTheOrderOfTheStream) {
  EXPECT_EQ(add(1, nullptr), cudaErrorInvalidDeviceFunction);
  register_kernel<&add_on_host>("add");
  Gate gate;
  cudaStream_t const stream = new_stream();
  ASSERT_CUDA(gate.block(stream));
  ASSERT_CUDA(add(5, stream));  // the arguments are gone when it runs
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(value(), 30);
  EXPECT_EQ(add(1, stream, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(add(1, stream, 1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(this, 1, 1, nullptr, 0, stream), cudaErrorInvalidDeviceFunction);
  cudaFunction_t function = nullptr;
  ASSERT_CUDA(cudaGetFuncBySymbol(&function, &add_symbol));
  int one = 1;
  void* arguments[] = {&at_, &one};
  cudaLaunchConfig_t how = {};
  how.gridDim = 1;
  how.blockDim = 1;
  how.stream = stream;
  ASSERT_CUDA(cudaLaunchKernelExC(&how, function, arguments));
  EXPECT_EQ(value(), 31);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(StandinKernels, OfUnknownParametersAreDoneWhenTheLaunchReturns) {
  standin_register_kernel("plain", &plain_on_host);
  void* arguments[] = {&at_};
  ASSERT_CUDA(cudaLaunchKernel(&plain_symbol, 1, 1, arguments, 0, nullptr));
  EXPECT_EQ(*at_, 7);
  cudaStream_t const stream = new_stream();
  ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaLaunchKernel(&plain_symbol, 1, 1, arguments, 0, stream),
            cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(StandinKernels, HaveVariables) {
  __cudaRegisterVar(binary_, &variable_symbol, nullptr, "variable", 0, 4, 0, 0);
  int value = 9;
  EXPECT_CUDA(cudaMemcpyToSymbol(&variable_symbol, &value, 4, 0, cudaMemcpyHostToDevice));
  value = 0;
  EXPECT_CUDA(cudaMemcpyFromSymbol(&value, &variable_symbol, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 9);
  void* at = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&at, this), cudaErrorInvalidSymbol);
}

TEST_F(StandinKernels, AreCapturedAcrossStreamsAndReplayed) {
  register_kernel<&add_on_host>("add");
  cudaStream_t const a = new_stream();
  cudaStream_t const b = new_stream();
  cudaEvent_t const fork = new_event();
  cudaEvent_t const join = new_event();
  std::vector<int> order;
  Note note = {&order, 1};
  ASSERT_CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  ASSERT_CUDA(cudaMemsetAsync(at_, 0, sizeof(int), a));
  ASSERT_CUDA(cudaEventRecord(fork, a));
  ASSERT_CUDA(cudaStreamWaitEvent(b, fork, 0));
  ASSERT_CUDA(add(1, b, 1, 1));
  ASSERT_CUDA(cudaEventRecord(join, b));
  ASSERT_CUDA(cudaLaunchHostFunc(a, &Note::write, &note));
  ASSERT_CUDA(cudaStreamWaitEvent(a, join, 0));
  ASSERT_CUDA(add(10, a, 1, 1));
  cudaStreamCaptureStatus status;
  ASSERT_CUDA(cudaStreamIsCapturing(b, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(a, &graph));
  EXPECT_TRUE(order.empty());
  size_t nodes = 0;
  ASSERT_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 4U);
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  ASSERT_CUDA(cudaGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) {
    ASSERT_CUDA(cudaMemset(at_, 0xff, sizeof(int)));
    ASSERT_CUDA(cudaGraphLaunch(executable, a));
    EXPECT_EQ(value(), 11);
  }
  EXPECT_EQ(order.size(), 3U);
  EXPECT_CUDA(cudaGraphExecDestroy(executable));
  EXPECT_EQ(cudaGraphLaunch(executable, a), cudaErrorInvalidValue);
  for (cudaEvent_t const event : {fork, join}) EXPECT_CUDA(cudaEventDestroy(event));
  for (cudaStream_t const stream : {a, b}) EXPECT_CUDA(cudaStreamDestroy(stream));
}

// Begins a capture, makes a call that is not allowed in it, and expects it to be spoiled.
template <typename Call>
void expect_spoiled(cudaError_t code, Call const& forbidden) {
  cudaStream_t const stream = new_stream();
  ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(forbidden(stream), code);
  cudaStreamCaptureStatus status;
  EXPECT_CUDA(
      cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  auto* graph = reinterpret_cast<cudaGraph_t>(&status);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(StandinCapture, IsSpoiledByCallsThatAreNotAllowed) {
  cudaEvent_t const event = new_event();
  int* const at = new_memory<int>(1);
  void* more = nullptr;
  expect_spoiled(cudaErrorStreamCaptureUnsupported, &cudaStreamSynchronize);
  expect_spoiled(cudaErrorStreamCaptureUnsupported, &cudaStreamQuery);
  expect_spoiled(cudaErrorStreamCaptureUnsupported,
                 [](cudaStream_t) { return cudaDeviceSynchronize(); });
  expect_spoiled(cudaErrorStreamCaptureUnsupported,
                 [&](cudaStream_t) { return cudaMalloc(&more, 4); });
  expect_spoiled(cudaErrorStreamCaptureUnsupported,
                 [&](cudaStream_t) { return cudaEventQuery(event); });
  expect_spoiled(cudaErrorStreamCaptureImplicit,
                 [&](cudaStream_t) { return cudaMemset(at, 0, 4); });
  expect_spoiled(cudaErrorStreamCaptureImplicit,
                 [&](cudaStream_t) { return cudaEventRecord(event, nullptr); });
  ASSERT_CUDA(cudaEventRecord(event, nullptr));
  expect_spoiled(cudaErrorStreamCaptureIsolation,
                 [&](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); });
  EXPECT_CUDA(cudaFree(at));
  EXPECT_CUDA(cudaEventDestroy(event));
}

TEST(StandinCapture, AllowsUnsafeCallsWhereItWasToldTo) {
  cudaStream_t const stream = new_stream(cudaStreamNonBlocking);
  void* at = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaMalloc(&at, 4));
  ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_CUDA(cudaFree(at));
  ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(StandinCapture, HasToBeJoinedWhereItBegan) {
  cudaStream_t const a = new_stream();
  cudaStream_t const b = new_stream();
  cudaEvent_t const event = new_event();
  std::vector<int> order;
  Note note = {&order, 1};
  ASSERT_CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  ASSERT_CUDA(cudaEventRecord(event, a));
  ASSERT_CUDA(cudaStreamWaitEvent(b, event, 0));
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated);
  ASSERT_CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  ASSERT_CUDA(cudaEventRecord(event, a));
  ASSERT_CUDA(cudaStreamWaitEvent(b, event, 0));
  ASSERT_CUDA(cudaLaunchHostFunc(b, &Note::write, &note));
  EXPECT_EQ(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_CUDA(cudaLaunchHostFunc(b, &Note::write, &note));  // both streams work as before
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(order.size(), 1U);
  EXPECT_CUDA(cudaEventDestroy(event));
  for (cudaStream_t const stream : {a, b}) EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(StandinGraphs, KeepUserObjectsAsLongAsTheyCanRun) {
  static int destroyed = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_CUDA(cudaUserObjectCreate(
      &object, nullptr, [](void*) { ++destroyed; }, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaGraphCreate(&graph, 0));
  ASSERT_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphNode_t nodes[2];
  cudaEvent_t const event = new_event();
  ASSERT_CUDA(cudaGraphAddEventRecordNode(&nodes[0], graph, nullptr, 0, event));
  ASSERT_CUDA(cudaGraphAddEmptyNode(&nodes[1], graph, nullptr, 0));
  ASSERT_CUDA(cudaGraphAddDependencies(graph, &nodes[1], &nodes[0], nullptr, 1));
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  ASSERT_CUDA(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], nullptr, 1));
  cudaGraphExec_t circle = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&circle, graph, 0), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0);
  Gate gate;
  ASSERT_CUDA(gate.block(nullptr));
  ASSERT_CUDA(cudaGraphLaunch(executable, nullptr));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  EXPECT_CUDA(cudaEventSynchronize(event));
  EXPECT_CUDA(cudaDeviceSynchronize());
  ASSERT_CUDA(cudaGraphExecDestroy(executable));
  EXPECT_EQ(destroyed, 1);
  EXPECT_CUDA(cudaEventDestroy(event));
}

}  // namespace
}  // namespace berth::standin
