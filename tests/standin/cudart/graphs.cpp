// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

using namespace berth::standin::cuda;

namespace {

/// Work of one stream in its order; other streams cannot take part.
using Recording = std::shared_ptr<std::vector<Work>>;

Recording& recording_of(void* handle) {
  return *static_cast<Recording*>(handle);
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode /*mode*/) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  if (is_default(handle)) return note(cudaErrorStreamCaptureUnsupported);
  Stream& stream = stream_of(handle);
  if (stream.recording) return note(cudaErrorIllegalState);
  stream.recording = std::make_shared<std::vector<Work>>();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  Stream& stream = stream_of(handle);
  if (!stream.recording) return note(cudaErrorIllegalState);
  *graph = reinterpret_cast<cudaGraph_t>(new Recording(std::move(stream.recording)));
  stream.recording = nullptr;
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  *status = !is_default(handle) && stream_of(handle).recording ? cudaStreamCaptureStatusActive
                                                               : cudaStreamCaptureStatusNone;
  return broken();
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                          unsigned long long /*flags*/) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  *ready = reinterpret_cast<cudaGraphExec_t>(new Recording(recording_of(graph)));
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(ready, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  Recording const recording = recording_of(ready);
  enqueue(stream_of(stream), [recording] {
    for (Work const& work : *recording) work();
  });
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  delete &recording_of(ready);
  return broken();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &recording_of(graph);
  return broken();
}

}  // extern "C"
