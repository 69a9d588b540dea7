// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "call.hpp"
#include "default_stream.hpp"
#include "graph.hpp"
#include "kernels.hpp"
#include "settings.hpp"
#include "stream.hpp"

// Launches, captures and graphs. Compiled twice, see default_stream.hpp.
using namespace berth::standin;

extern "C" {
// What nvcc puts in place of <<<...>>>; no public header has it.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t,
                               cudaStream_t stream) {
  return call([&] { launch(kernel, {grid, block}, arguments, *find_stream(chosen(stream))); });
}
}

cudaError_t cudaLaunchKernel(void const* kernel, dim3 grid, dim3 block, void** arguments, size_t,
                             cudaStream_t stream) {
  return call([&] { launch(kernel, {grid, block}, arguments, *find_stream(chosen(stream))); });
}

cudaError_t cudaLaunchCooperativeKernel(void const* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t, cudaStream_t stream) {
  return call([&] { launch(kernel, {grid, block}, arguments, *find_stream(chosen(stream))); });
}

cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* how, void const* kernel,
                                void** arguments) {
  return call([&] {
    require(how != nullptr);
    launch(kernel, {how->gridDim, how->blockDim}, arguments, *find_stream(chosen(how->stream)));
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] { begin_capture(chosen(stream), mode, nullptr, {}); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          cudaGraphNode_t const* after, cudaGraphEdgeData const*,
                                          size_t count, cudaStreamCaptureMode mode) {
  return call([&] {
    Graph& into = find_graph(graph);
    begin_capture(chosen(stream), mode, &into, nodes_of(into, after, count));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] { end_capture(chosen(stream), graph); });
}

namespace {

cudaStreamCaptureStatus status_of(Stream const& stream) {
  if (!stream.capture) return cudaStreamCaptureStatusNone;
  return stream.capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
}

// The legacy default stream cannot say that it captures nothing while another stream, which it
// follows, is capturing.
std::unique_lock<std::mutex> lock_to_look_at(Stream const& stream) {
  std::unique_lock<std::mutex> lock = lock_engine();
  if (stream.kind == Stream::Kind::legacy) require_no_implicit_capture(stream.device);
  return lock;
}

}  // namespace

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&] {
    require(status != nullptr);
    std::shared_ptr<Stream> const found = find_stream(chosen(stream));
    auto const lock = lock_to_look_at(*found);
    *status = status_of(*found);
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     cudaGraphNode_t const** after, cudaGraphEdgeData const** edges,
                                     size_t* count) {
  return call([&] {
    require(status != nullptr);
    std::shared_ptr<Stream> const found = find_stream(chosen(stream));
    auto const lock = lock_to_look_at(*found);
    *status = status_of(*found);
    if (*status != cudaStreamCaptureStatusActive) return;
    if (id != nullptr) *id = found->capture->id;
    if (graph != nullptr) *graph = handle_of(found->capture->graph);
    if (after != nullptr) {
      *after = reinterpret_cast<cudaGraphNode_t const*>(found->frontier.data());
    }
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = found->frontier.size();
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                cudaGraphEdgeData const*, size_t count,
                                                unsigned int flags) {
  return call([&] {
    require(flags == cudaStreamAddCaptureDependencies || flags == cudaStreamSetCaptureDependencies);
    std::shared_ptr<Stream> const found = find_stream(chosen(stream));
    auto const lock = lock_engine();
    require(found->capture != nullptr, cudaErrorIllegalState);
    require(found->capture->valid, cudaErrorStreamCaptureInvalidated);
    std::vector<Node*> const given = nodes_of(*found->capture->graph, nodes, count);
    if (flags == cudaStreamSetCaptureDependencies) found->frontier.clear();
    join_capture(*found, found->capture, given);
  });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return call([&] {
    require(executable != nullptr && parameters != nullptr);
    *executable = make_executable(find_graph(graph), parameters->flags);
    parameters->result_out = cudaGraphInstantiateSuccess;
    parameters->errNode_out = nullptr;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&] {
    find_executable(executable);
    find_stream(chosen(stream));
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&] {
    count_use();
    launch_graph(executable, *find_stream(chosen(stream)));
  });
}
