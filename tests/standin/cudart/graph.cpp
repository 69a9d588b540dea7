// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "call.hpp"
#include "event.hpp"
#include "stream.hpp"

namespace berth::standin {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<Graph*, std::unique_ptr<Graph>> graphs;
  std::map<cudaGraphExec_t, std::shared_ptr<ExecutableGraph>> executables;
};
Registry& registry() {
  static auto* const only = new Registry;
  return *only;
}

// The nodes so that each comes after those it depends on; fails if there is a circle.
std::vector<Node const*> in_order(Graph const& graph) {
  std::vector<Node const*> order;
  std::set<Node const*> placed;
  while (order.size() < graph.nodes.size()) {
    std::size_t const before = order.size();
    for (auto const& node : graph.nodes) {
      bool const ready = std::all_of(node->after.begin(), node->after.end(),
                                     [&](Node const* one) { return placed.count(one) > 0; });
      if (!ready || !placed.insert(node.get()).second) continue;
      order.push_back(node.get());
    }
    require(order.size() > before);
  }
  return order;
}

// One launch: the steps, and the state that its event records leave behind.
struct Launch {
  std::shared_ptr<ExecutableGraph> executable;
  std::vector<WorkPtr> records;  // one for each step, null where it records nothing

  void run() const {
    for (std::size_t i = 0; i < executable->steps.size(); ++i) {
      if (executable->steps[i].run) executable->steps[i].run();
      if (records[i]) records[i]->finish();
    }
  }
};

// The caller holds lock_engine().
Launch prepare(std::shared_ptr<ExecutableGraph> const& executable, std::vector<WorkPtr>& after) {
  Launch launch;
  launch.executable = executable;
  for (Step const& step : executable->steps) {
    if (step.waits_for && step.waits_for->work) after.push_back(step.waits_for->work);
  }
  for (Step const& step : executable->steps) {
    launch.records.push_back(step.records ? std::make_shared<Work>() : nullptr);
    if (step.records) step.records->work = launch.records.back();
  }
  return launch;
}

// A launch while the stream captures is one node of the new graph.
void capture_launch(std::shared_ptr<ExecutableGraph> const& executable, Stream& stream) {
  for (Step const& step : executable->steps) {
    if (step.records || step.waits_for) spoil(*stream.capture, cudaErrorStreamCaptureUnsupported);
  }
  Step child;
  child.type = cudaGraphNodeTypeGraph;
  child.run = [executable] {
    for (Step const& step : executable->steps) {
      if (step.run) step.run();
    }
  };
  capture_step(stream, std::move(child));
}

}  // namespace

Node* Graph::add(Step step, std::vector<Node*> after) {
  nodes.push_back(std::make_unique<Node>(Node{this, std::move(step), std::move(after)}));
  return nodes.back().get();
}

Graph& make_graph() {
  auto graph = std::make_unique<Graph>();
  Graph& made = *graph;
  std::lock_guard const lock(registry().mutex);
  registry().graphs[&made] = std::move(graph);
  return made;
}

Graph& find_graph(cudaGraph_t handle) {
  std::lock_guard const lock(registry().mutex);
  auto const found = registry().graphs.find(reinterpret_cast<Graph*>(handle));
  require(found != registry().graphs.end());
  return *found->second;
}

void destroy_graph(Graph& graph) {
  std::unique_ptr<Graph> gone;  // user objects are given back without a lock held
  std::lock_guard const lock(registry().mutex);
  auto const found = registry().graphs.find(&graph);
  require(found != registry().graphs.end());
  gone = std::move(found->second);
  registry().graphs.erase(found);
}

std::vector<Node*> nodes_of(Graph& graph, cudaGraphNode_t const* handles, size_t count) {
  std::vector<Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    Node* const node = node_of(handles[i]);
    bool const own = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [&](auto const& one) { return one.get() == node; });
    require(own);
    nodes.push_back(node);
  }
  return nodes;
}

cudaGraphExec_t make_executable(Graph const& graph, unsigned long long flags) {
  auto executable = std::make_shared<ExecutableGraph>();
  executable->flags = flags;
  for (Node const* const node : in_order(graph)) executable->steps.push_back(node->step);
  for (auto const& [handle, object] : graph.kept) executable->kept.push_back(object);
  auto const handle = reinterpret_cast<cudaGraphExec_t>(executable.get());
  std::lock_guard const lock(registry().mutex);
  registry().executables[handle] = std::move(executable);
  return handle;
}

std::shared_ptr<ExecutableGraph> find_executable(cudaGraphExec_t handle) {
  std::lock_guard const lock(registry().mutex);
  auto const found = registry().executables.find(handle);
  require(found != registry().executables.end());
  return found->second;
}

void destroy_executable(cudaGraphExec_t handle) {
  std::shared_ptr<ExecutableGraph> const gone = find_executable(handle);
  std::lock_guard const lock(registry().mutex);
  registry().executables.erase(handle);
}

void launch_graph(cudaGraphExec_t handle, Stream& stream) {
  std::shared_ptr<ExecutableGraph> const executable = find_executable(handle);
  auto const lock = lock_engine();
  if (stream.capture) {
    capture_launch(executable, stream);
    return;
  }
  if (stream.kind == Stream::Kind::legacy) require_no_implicit_capture(stream.device);
  std::vector<WorkPtr> after = {executable->last};
  Launch launch = prepare(executable, after);
  executable->last = enqueue(
      stream, [launch = std::move(launch)] { launch.run(); }, std::move(after));
}

}  // namespace berth::standin
