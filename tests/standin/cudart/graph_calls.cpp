// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include <cuda_runtime_api.h>

#include "call.hpp"
#include "copy.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "kernels.hpp"

// Graphs that a program builds and looks at by itself, and user objects.
namespace berth::standin {
namespace {

struct UserObject {
  void* data;
  cudaHostFn_t destroy;
  std::atomic<unsigned> references;
};

struct Objects {
  std::mutex mutex;
  std::set<UserObject*> all;
};
Objects& objects() {
  static auto* const only = new Objects;
  return *only;
}

UserObject& object_of(cudaUserObject_t handle) {
  std::lock_guard const lock(objects().mutex);
  auto* const object = reinterpret_cast<UserObject*>(handle);
  require(objects().all.count(object) > 0);
  return *object;
}

void give_back(UserObject& object, unsigned count) {
  if ((object.references -= count) > 0) return;
  {
    std::lock_guard const lock(objects().mutex);
    objects().all.erase(&object);
  }
  object.destroy(object.data);
  delete &object;
}

void add_node(cudaGraphNode_t* made, cudaGraph_t handle, cudaGraphNode_t const* after, size_t count,
              Step step) {
  require(made != nullptr && (after != nullptr || count == 0));
  Graph& graph = find_graph(handle);
  *made = handle_of(graph.add(std::move(step), nodes_of(graph, after, count)));
}

// Fills as many handles as there is room for, or says how many there are.
void list_nodes(std::vector<Node*> const& nodes, cudaGraphNode_t* handles, size_t* count) {
  require(count != nullptr);
  size_t const room = *count;
  if (handles == nullptr) {
    *count = nodes.size();
    return;
  }
  *count = std::min(room, nodes.size());
  std::transform(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(*count), handles,
                 [](Node* node) { return handle_of(node); });
  std::fill(handles + *count, handles + room, nullptr);
}

Node& require_node(cudaGraphNode_t handle) {
  require(handle != nullptr);
  return *node_of(handle);
}

}  // namespace
}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return call([&] {
    require(graph != nullptr && flags == 0);
    *graph = handle_of(&make_graph());
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] { destroy_graph(find_graph(graph)); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return call([&] {
    require(executable != nullptr);
    *executable = make_executable(find_graph(graph), flags);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return call([&] {
    require(flags != nullptr);
    *flags = find_executable(executable)->flags;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&] { destroy_executable(executable); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  cudaGraphNode_t const* after, size_t count) {
  return call([&] { add_node(node, graph, after, count, {}); });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   cudaGraphNode_t const* after, size_t count,
                                   cudaKernelNodeParams const* how) {
  return call([&] {
    require(how != nullptr);
    bool borrows_arguments = false;
    Step step =
        kernel_step(how->func, {how->gridDim, how->blockDim}, how->kernelParams, borrows_arguments);
    require(!borrows_arguments, cudaErrorNotSupported);
    add_node(node, graph, after, count, std::move(step));
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     cudaGraphNode_t const* after, size_t count, void* to,
                                     void const* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&] { add_node(node, graph, after, count, copy_step({to, from, bytes}, kind)); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   cudaGraphNode_t const* after, size_t count,
                                   cudaMemsetParams const* how) {
  return call([&] {
    require(how != nullptr);
    require(how->elementSize == 1, cudaErrorNotSupported);
    Fill const fill = {how->dst, static_cast<int>(how->value), how->width, how->height, how->pitch};
    add_node(node, graph, after, count, fill_step(fill));
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 cudaGraphNode_t const* after, size_t count,
                                 cudaHostNodeParams const* how) {
  return call([&] {
    require(how != nullptr && how->fn != nullptr);
    Step step;
    step.type = cudaGraphNodeTypeHost;
    step.run = [function = how->fn, data = how->userData] {
      NoCallsHere const none;
      function(data);
    };
    add_node(node, graph, after, count, std::move(step));
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        cudaGraphNode_t const* after, size_t count,
                                        cudaEvent_t event) {
  return call([&] {
    Step step;
    step.type = cudaGraphNodeTypeEventRecord;
    step.records = find_event(event);
    add_node(node, graph, after, count, std::move(step));
  });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      cudaGraphNode_t const* after, size_t count,
                                      cudaEvent_t event) {
  return call([&] {
    Step step;
    step.type = cudaGraphNodeTypeWaitEvent;
    step.waits_for = find_event(event);
    add_node(node, graph, after, count, std::move(step));
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, cudaGraphNode_t const* from,
                                     cudaGraphNode_t const* to, cudaGraphEdgeData const*,
                                     size_t count) {
  return call([&] {
    require((from != nullptr && to != nullptr) || count == 0);
    Graph& graph = find_graph(handle);
    std::vector<Node*> const first = nodes_of(graph, from, count);
    std::vector<Node*> const second = nodes_of(graph, to, count);
    for (size_t i = 0; i < count; ++i) {
      std::vector<Node*>& after = second[i]->after;
      bool const is_new = std::find(after.begin(), after.end(), first[i]) == after.end();
      require(is_new && first[i] != second[i]);
      after.push_back(first[i]);
    }
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&] {
    require(type != nullptr);
    *type = require_node(node).step.type;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* after,
                                         cudaGraphEdgeData*, size_t* count) {
  return call([&] { list_nodes(require_node(node).after, after, count); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] {
    std::vector<Node*> all;
    for (auto const& node : find_graph(graph).nodes) all.push_back(node.get());
    list_nodes(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] {
    std::vector<Node*> roots;
    for (auto const& node : find_graph(graph).nodes) {
      if (node->after.empty()) roots.push_back(node.get());
    }
    list_nodes(roots, nodes, count);
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* made, void* data, cudaHostFn_t destroy,
                                 unsigned int count, unsigned int flags) {
  return call([&] {
    require(made != nullptr && destroy != nullptr && count > 0);
    require(flags == cudaUserObjectNoDestructorSync);
    auto* const object = new UserObject{data, destroy, {count}};
    std::lock_guard const lock(objects().mutex);
    objects().all.insert(object);
    *made = reinterpret_cast<cudaUserObject_t>(object);
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
  return call([&] {
    require(count > 0);
    object_of(object).references += count;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return call([&] {
    require(count > 0);
    give_back(object_of(object), count);
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t handle,
                                      unsigned int count, unsigned int flags) {
  return call([&] {
    require(count > 0 && (flags == 0 || flags == cudaGraphUserObjectMove));
    Graph& into = find_graph(graph);
    UserObject& object = object_of(handle);
    if (flags == 0) object.references += count;
    for (unsigned i = 0; i < count; ++i) {
      into.kept.emplace_back(handle,
                             KeptObject(&object, [&object](void*) { give_back(object, 1); }));
    }
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t handle,
                                       unsigned int count) {
  return call([&] {
    Graph& from = find_graph(graph);
    for (unsigned i = 0; i < count; ++i) {
      auto const found = std::find_if(from.kept.begin(), from.kept.end(),
                                      [&](auto const& one) { return one.first == handle; });
      require(found != from.kept.end());
      from.kept.erase(found);
    }
  });
}
