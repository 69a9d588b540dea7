// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include "work.hpp"

namespace berth::standin {

struct Event;
struct Graph;
struct Stream;

/// What a stream is asked to do: a node while it captures, work otherwise.
struct Step {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::function<void()> run = nullptr;
  std::shared_ptr<Event> records = nullptr;  ///< an event recorded by each launch of the graph
  std::shared_ptr<Event> waits_for = nullptr;
};

struct Node {
  Graph* graph;
  Step step;
  std::vector<Node*> after;
};

/// Holds a program's user object; gives the reference back when the last graph, executable graph
/// and launch that knows it is gone.
using KeptObject = std::shared_ptr<void>;

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::pair<cudaUserObject_t, KeptObject>> kept;

  Node* add(Step step, std::vector<Node*> after);
};

/// Nodes of a graph in an order that keeps the dependencies. A launch does one after the other on
/// one stream, which CUDA allows: it promises no concurrency.
struct ExecutableGraph {
  std::vector<Step> steps;
  std::vector<KeptObject> kept;
  unsigned long long flags = 0;
  WorkPtr last;  ///< launches of one executable graph never overlap
};

/// A capture that is under way, shared by all streams that take part.
struct Capture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  Stream* origin = nullptr;
  Graph* graph = nullptr;
  bool owns_graph = true;
  bool valid = true;
  std::vector<Stream*> streams;
};

/// Fails, and spoils the captures concerned, if the calling thread may make no unsafe call now.
void require_safe_to_call();
/// Fails if a stream of the device that follows the legacy default stream is capturing.
/// The caller holds lock_engine().
void require_no_implicit_capture(int device);
/// Fails if any stream of the device is capturing.
void require_no_capture_on(int device);
[[noreturn]] void spoil(Capture& capture, cudaError_t code);
/// Adds a node to the capture of the stream. The caller holds lock_engine().
Node* capture_step(Stream& stream, Step step);
/// Makes the stream take part in a capture after these nodes. The caller holds lock_engine().
void join_capture(Stream& stream, std::shared_ptr<Capture> const& capture,
                  std::vector<Node*> const& after);

void begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode, Graph* into,
                   std::vector<Node*> after);
void end_capture(cudaStream_t handle, cudaGraph_t* graph);

/// Ends the part that a destroyed stream takes in a capture.
/// The caller holds lock_engine().
void abandon_capture(Stream& stream);

/// Makes a graph that find_graph() finds until it is destroyed.
Graph& make_graph();
void destroy_graph(Graph& graph);
Graph& find_graph(cudaGraph_t handle);
inline cudaGraph_t handle_of(Graph* graph) {
  return reinterpret_cast<cudaGraph_t>(graph);
}
cudaGraphExec_t make_executable(Graph const& graph, unsigned long long flags);
void destroy_executable(cudaGraphExec_t handle);
std::shared_ptr<ExecutableGraph> find_executable(cudaGraphExec_t handle);
void launch_graph(cudaGraphExec_t handle, Stream& stream);

inline cudaGraphNode_t handle_of(Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(node);
}
inline Node* node_of(cudaGraphNode_t handle) {
  return reinterpret_cast<Node*>(handle);
}
/// Fails if there are nodes that are not of the graph.
std::vector<Node*> nodes_of(Graph& graph, cudaGraphNode_t const* handles, size_t count);

}  // namespace berth::standin
