// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "call.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "stream.hpp"

namespace berth::standin {
namespace {

std::vector<std::shared_ptr<Capture>>& captures() {
  static auto* const all = new std::vector<std::shared_ptr<Capture>>;
  return *all;
}

unsigned long long next_capture_id = 1;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// Whether an unsafe call of this thread would disturb the capture.
bool concerns_this_thread(Capture const& capture) {
  if (thread_mode == cudaStreamCaptureModeRelaxed || capture.mode == cudaStreamCaptureModeRelaxed) {
    return false;
  }
  if (capture.thread == std::this_thread::get_id()) return true;
  return thread_mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

void add_ancestors(Node* node, std::set<Node*>& found) {
  std::vector<Node*> open = {node};
  while (!open.empty()) {
    Node* const one = open.back();
    open.pop_back();
    if (!found.insert(one).second) continue;
    open.insert(open.end(), one->after.begin(), one->after.end());
  }
}

// Whether all that other streams captured leads to the stream in which the capture began.
bool all_joined(Capture const& capture) {
  std::set<Node*> joined;
  for (Node* const node : capture.origin->frontier) add_ancestors(node, joined);
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](Stream const* stream) {
    return std::all_of(stream->frontier.begin(), stream->frontier.end(),
                       [&](Node* node) { return joined.count(node) > 0; });
  });
}

void end(Capture& capture) {
  capture.valid = false;
  for (Stream* const stream : capture.streams) {
    stream->frontier.clear();
    if (stream != capture.origin) stream->capture = nullptr;
  }
  std::erase_if(captures(), [&](auto const& one) { return one.get() == &capture; });
  capture.origin->capture = nullptr;
}

cudaError_t fault_at_end(Capture const& capture, Stream const& stream) {
  if (!capture.valid) return cudaErrorStreamCaptureInvalidated;
  if (capture.origin != &stream) return cudaErrorStreamCaptureUnmatched;
  if (capture.mode != cudaStreamCaptureModeRelaxed &&
      capture.thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  return all_joined(capture) ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

}  // namespace

void spoil(Capture& capture, cudaError_t code) {
  bool const was_valid = capture.valid;
  capture.valid = false;
  fail(was_valid ? code : cudaErrorStreamCaptureInvalidated);
}

void require_safe_to_call() {
  auto const lock = lock_engine();
  bool disturbed = false;
  for (auto const& capture : captures()) {
    if (!concerns_this_thread(*capture)) continue;
    capture->valid = false;
    disturbed = true;
  }
  require(!disturbed, cudaErrorStreamCaptureUnsupported);
}

void require_no_implicit_capture(int device) {
  bool disturbed = false;
  for (auto const& capture : captures()) {
    for (Stream const* const stream : capture->streams) {
      if (stream->device != device || !stream->follows_legacy()) continue;
      capture->valid = false;
      disturbed = true;
    }
  }
  require(!disturbed, cudaErrorStreamCaptureImplicit);
}

void require_no_capture_on(int device) {
  auto const lock = lock_engine();
  bool disturbed = false;
  for (auto const& capture : captures()) {
    for (Stream const* const stream : capture->streams) {
      if (stream->device != device) continue;
      capture->valid = false;
      disturbed = true;
    }
  }
  require(!disturbed, cudaErrorStreamCaptureUnsupported);
}

Node* capture_step(Stream& stream, Step step) {
  Capture& capture = *stream.capture;
  require(capture.valid, cudaErrorStreamCaptureInvalidated);
  Node* const node = capture.graph->add(std::move(step), stream.frontier);
  stream.frontier = {node};
  return node;
}

void join_capture(Stream& stream, std::shared_ptr<Capture> const& capture,
                  std::vector<Node*> const& after) {
  require(capture->valid, cudaErrorStreamCaptureInvalidated);
  if (!stream.capture) {
    stream.capture = capture;
    stream.frontier.clear();
    capture->streams.push_back(&stream);
  } else if (stream.capture != capture) {
    stream.capture->valid = false;
    spoil(*capture, cudaErrorStreamCaptureMerge);
  }
  for (Node* const node : after) {
    auto& frontier = stream.frontier;
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) {
      frontier.push_back(node);
    }
  }
}

void begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode, Graph* into,
                   std::vector<Node*> after) {
  require(mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
          mode == cudaStreamCaptureModeRelaxed);
  std::shared_ptr<Stream> const stream = find_stream(handle);
  require(stream->kind != Stream::Kind::legacy, cudaErrorStreamCaptureUnsupported);
  auto const lock = lock_engine();
  require(stream->capture == nullptr, cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture_id++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->owns_graph = into == nullptr;
  capture->graph = into == nullptr ? &make_graph() : into;
  capture->streams = {stream.get()};
  stream->capture = capture;
  stream->frontier = std::move(after);
  captures().push_back(std::move(capture));
}

void end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  if (graph != nullptr) *graph = nullptr;
  std::shared_ptr<Stream> const stream = find_stream(handle);
  auto const lock = lock_engine();
  require(stream->capture != nullptr, cudaErrorIllegalState);
  std::shared_ptr<Capture> const capture = stream->capture;
  cudaError_t const fault = fault_at_end(*capture, *stream);
  if (fault == cudaErrorStreamCaptureUnmatched || fault == cudaErrorStreamCaptureWrongThread) {
    spoil(*capture, fault);  // the capture goes on, to be ended where it has to be
  }
  end(*capture);
  if (fault != cudaSuccess && capture->owns_graph) destroy_graph(*capture->graph);
  require(fault == cudaSuccess, fault);
  if (graph != nullptr) *graph = handle_of(capture->graph);
}

void abandon_capture(Stream& stream) {
  std::shared_ptr<Capture> const capture = stream.capture;
  if (!capture) return;
  capture->valid = false;
  if (capture->origin == &stream) {
    end(*capture);
    if (capture->owns_graph) destroy_graph(*capture->graph);
  } else {
    std::erase(capture->streams, &stream);
    stream.capture = nullptr;
  }
}

}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call(Needs::nothing, [&] {
    require(mode != nullptr);
    require(*mode == cudaStreamCaptureModeGlobal || *mode == cudaStreamCaptureModeThreadLocal ||
            *mode == cudaStreamCaptureModeRelaxed);
    std::swap(*mode, thread_mode);
  });
}
