// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <model/node.hpp>

/// Sets of PUs, and the cores they make up.
namespace berth::place {

/// Common elements of two sorted sets.
model::PuSet intersection(model::PuSet const& a, model::PuSet const& b);
/// Elements of either of two sorted sets.
model::PuSet united(model::PuSet const& a, model::PuSet const& b);
/// Elements of `a` that are not in `b`; both sorted.
model::PuSet without(model::PuSet const& a, model::PuSet const& b);
/// True when every element of `part` is in `whole`; both sorted.
bool is_within(model::PuSet const& part, model::PuSet const& whole);
/// True when two sorted sets have an element in common.
bool touches(model::PuSet const& a, model::PuSet const& b);

/// A core with those of its PUs that may be used.
struct UsableCore {
  std::size_t core = 0;  ///< index into Node::cores
  model::PuSet pus;      ///< sorted, never empty
};

/// Finds the core of a PU.
class CoreMap {
 public:
  /// Keeps a reference to the node.
  explicit CoreMap(model::Node const& node);

  /// The cores that have PUs in the set, in the node's order, with these PUs; without `smt` with
  /// the first of them.
  [[nodiscard]] std::vector<UsableCore> cores(model::PuSet const& pus, bool smt) const;
  /// The PUs of the set and all their siblings.
  [[nodiscard]] model::PuSet whole_cores(model::PuSet const& pus) const;
  /// All PUs of the machine, sorted.
  [[nodiscard]] model::PuSet const& all() const { return all_; }
  [[nodiscard]] model::Node const& node() const { return node_; }

 private:
  /// The cores that have PUs in the set, ascending.
  [[nodiscard]] std::vector<std::size_t> touched(model::PuSet const& pus) const;

  model::Node const& node_;
  model::PuSet all_;
  std::vector<std::size_t> core_of_;  ///< by position in all_
};

}  // namespace berth::place
