// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace berth::cpu {

/// Where one rank lives.
struct Place {
  int host = 0;   ///< index of its host, dense from 0
  int local = 0;  ///< index among the ranks of that host, dense from 0
};

/// Where every rank lives. A host whose ranks cannot share memory appears as one host per rank.
class Topology {
 public:
  Topology() = default;
  /// @param places by rank. @throws Error internal when the indices are not dense
  explicit Topology(std::vector<Place> const& places);
  /// All ranks on one host, in rank order.
  static Topology one_host(int ranks);

  [[nodiscard]] int size() const { return static_cast<int>(places_.size()); }
  [[nodiscard]] int hosts() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] Place const& place(int rank) const {
    return places_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int local_size(int host) const {
    return static_cast<int>(ranks_[static_cast<std::size_t>(host)].size());
  }
  /// The rank with this index on this host.
  [[nodiscard]] int rank(int host, int local) const {
    return ranks_[static_cast<std::size_t>(host)][static_cast<std::size_t>(local)];
  }
  /// Lanes between hosts: every host has at least so many ranks. Lane l joins the l-th ranks.
  [[nodiscard]] int lanes() const { return lanes_; }
  /// Ranks of the fullest host: what every rank can know and the choice of a design depends on.
  [[nodiscard]] int fullest() const { return fullest_; }

 private:
  std::vector<Place> places_;
  std::vector<std::vector<int>> ranks_;  ///< [host][local]
  int lanes_ = 0;
  int fullest_ = 0;
};

}  // namespace berth::cpu
