// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bitset>
#include <string>
#include <utility>

#include <berth/placement.hpp>
#include <model/node.hpp>

/// A plan seen from outside, for judging it without the planner's own tools.
namespace berth::test {

using Set = std::bitset<1024>;  ///< PUs

Set as_set(model::PuSet const& pus);
/// "0-3,8" as a set.
Set as_set(std::string const& list);
bool meets(Set const& a, Set const& b);
bool inside(Set const& part, Set const& whole);

/// Everything about one rank, read from outside.
struct Berth {
  Placement const* placement = nullptr;
  model::Device const* device = nullptr;
  Set cpus;
  Set allowed;  ///< by cgroup and kept binding
  Set home;     ///< of these, beside the device; all without a device or its place
  bool kept = false;
  bool known = false;  ///< where the device is
};

/// What is right beside a device, as far as it is allowed; otherwise its NUMA node or package.
/// First: whether that is known.
std::pair<bool, Set> beside_device(model::Node const& node, model::Device const& device,
                                   Set const& allowed);

/// Class of the path as a number, smaller is better: 0 2 4 6 8 10 for PIX to SYS, 7 for unknown.
template <class A, class B>
int path_class(A const& a, B const& b) {
  for (std::size_t up = 0; up < a.bridges.size(); ++up) {
    for (std::size_t other = 0; other < b.bridges.size(); ++other) {
      if (a.bridges[up] != b.bridges[other]) continue;
      bool const host = a.bridges[up].substr(0, 4) == "host";
      if (!host) return std::max(up, other) < 2 ? 0 : 2;
      if (a.numa >= 0 && a.numa == b.numa) return 4;
    }
  }
  if (a.numa >= 0 && a.numa == b.numa) return 6;
  bool const both = a.numa >= 0 && b.numa >= 0;
  if (a.package < 0 || b.package < 0) return both ? 10 : 7;
  if (a.package != b.package) return 10;
  return both ? 8 : 7;
}

/// The same number for "PIX" and so on; -1 for no such word.
int class_of_name(std::string const& name);

}  // namespace berth::test
