// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <place/flow.hpp>

namespace berth::place {
namespace {

constexpr long long unreached = std::numeric_limits<long long>::max();

}  // namespace

std::size_t Flow::add(int from, int to, int capacity, long long cost, long long step) {
  out_[static_cast<std::size_t>(from)].push_back(edges_.size());
  edges_.push_back({to, capacity, cost, step});
  out_[static_cast<std::size_t>(to)].push_back(edges_.size());
  edges_.push_back({from, 0, cost, step});
  return edges_.size() / 2 - 1;
}

// A unit sent back gives up what the last one forth has cost.
long long Flow::cost_of(std::size_t index) const {
  Edge const& edge = edges_[index];
  if (index % 2 == 0) return edge.cost + edge.step * edges_[index + 1].left;
  return -(edge.cost + edge.step * (edge.left - 1));
}

// Shortest path with a queue: costs that run back are negative, and the networks are small.
bool Flow::find_path(int source, int sink) {
  distance_.assign(out_.size(), unreached);
  waiting_.assign(out_.size(), false);
  came_by_.resize(out_.size());
  queue_.assign(1, source);
  distance_[static_cast<std::size_t>(source)] = 0;
  while (!queue_.empty()) {
    auto const at = static_cast<std::size_t>(queue_.front());
    queue_.pop_front();
    waiting_[at] = false;
    for (std::size_t const index : out_[at]) {
      if (edges_[index].left <= 0) continue;
      auto const to = static_cast<std::size_t>(edges_[index].to);
      long long const reached = distance_[at] + cost_of(index);
      if (reached >= distance_[to]) continue;
      distance_[to] = reached;
      came_by_[to] = index;
      if (!waiting_[to]) queue_.push_back(edges_[index].to);
      waiting_[to] = true;
    }
  }
  return distance_[static_cast<std::size_t>(sink)] != unreached;
}

// Sends along the path found; one unit where the next would cost more.
int Flow::push(int source, int sink, int limit) {
  int units = limit;
  for (int at = sink; at != source;) {
    std::size_t const index = came_by_[static_cast<std::size_t>(at)];
    units = std::min(units, edges_[index].step > 0 ? 1 : edges_[index].left);
    at = edges_[index ^ 1U].to;
  }
  for (int at = sink; at != source;) {
    std::size_t const index = came_by_[static_cast<std::size_t>(at)];
    edges_[index].left -= units;
    edges_[index ^ 1U].left += units;
    at = edges_[index ^ 1U].to;
  }
  return units;
}

int Flow::send(int source, int sink, int limit) {
  int sent = 0;
  while (sent < limit && find_path(source, sink)) sent += push(source, sink, limit - sent);
  return sent;
}

std::vector<bool> Flow::reachable(int source) const {
  std::vector<bool> seen(out_.size(), false);
  std::vector<int> open{source};
  seen[static_cast<std::size_t>(source)] = true;
  while (!open.empty()) {
    auto const at = static_cast<std::size_t>(open.back());
    open.pop_back();
    for (std::size_t const index : out_[at]) {
      auto const to = static_cast<std::size_t>(edges_[index].to);
      if (edges_[index].left <= 0 || seen[to]) continue;
      seen[to] = true;
      open.push_back(edges_[index].to);
    }
  }
  return seen;
}

}  // namespace berth::place
