// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <verify/cases.hpp>

namespace berth::verification {
namespace {

constexpr std::array<Layout, 3> layouts = {Layout::out_of_place, Layout::in_place,
                                           Layout::misaligned};
/// With more ranks than this the exposed cases are a sample: they cost one collective per rank.
constexpr int most_exposed = 8;

bool is_float(Type type) {
  return type == Type::float32 || type == Type::float64;
}

}  // namespace

std::vector<Type> const& checked_types() {
  static std::vector<Type> const types = {Type::float32, Type::int64, Type::float64, Type::int32};
  return types;
}

std::vector<Case> cases_of(std::size_t bytes, int ranks, bool all_operations) {
  std::vector<Case> cases;
  for (Type const type : checked_types()) {
    for (Layout const layout : layouts)
      cases.push_back({type, Op::sum, bytes, layout, Coding::pattern, 0});
    // A sum of integers shows every bit of every rank; a sum of floats may round the low ones away.
    int const exposed = is_float(type) ? std::min(ranks, most_exposed) : 0;
    for (int shift = 0; shift < exposed; ++shift)
      cases.push_back({type, Op::max, bytes, Layout::out_of_place, Coding::exposed, shift});
  }
  if (!all_operations) return cases;
  std::size_t turn = 0;
  for (Op const op : {Op::prod, Op::min, Op::max}) {
    for (Type const type : checked_types())
      cases.push_back({type, op, bytes, layouts.at(turn++ % layouts.size()), Coding::pattern, 0});
  }
  return cases;
}

std::string_view name(Layout layout) {
  switch (layout) {
    case Layout::out_of_place:
      return "out of place";
    case Layout::in_place:
      return "in place";
    case Layout::misaligned:
      return "misaligned";
  }
  return "unknown";
}

}  // namespace berth::verification
