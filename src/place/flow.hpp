// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace berth::place {

/// Flow of least cost in a small network, by successive shortest paths. Matchings of ranks with
/// devices, cores and cards are such flows.
class Flow {
 public:
  /// @param vertices they are numbered from 0
  explicit Flow(int vertices) : out_(static_cast<std::size_t>(vertices)) {}

  /// Adds an edge. Its k-th unit, from 0, costs `cost` + k * `step`; neither is negative.
  /// @return the edge's number
  std::size_t add(int from, int to, int capacity, long long cost, long long step = 0);
  /// Sends up to `limit` units at least cost; as many as the network carries. Call it once.
  /// @return units sent
  int send(int source, int sink, int limit);
  /// Units on an edge.
  [[nodiscard]] int on(std::size_t edge) const { return edges_[2 * edge + 1].left; }
  /// For every vertex: can another unit come there from `source`? After a flow that could not send
  /// all, these are the vertices that compete for too little.
  [[nodiscard]] std::vector<bool> reachable(int source) const;

 private:
  struct Edge {
    int to;
    int left;  ///< units that it can still take; of its twin, which runs back: units on it
    long long cost;
    long long step;
  };
  [[nodiscard]] long long cost_of(std::size_t index) const;
  bool find_path(int source, int sink);
  int push(int source, int sink, int limit);

  std::vector<Edge> edges_;  ///< edge 2k and its twin 2k + 1
  std::vector<std::vector<std::size_t>> out_;
  // Of the search, kept so that not every unit allocates them again.
  std::vector<std::size_t> came_by_;
  std::vector<long long> distance_;
  std::vector<bool> waiting_;
  std::deque<int> queue_;
};

}  // namespace berth::place
