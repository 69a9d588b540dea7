// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <berth/types.hpp>

/// The room of berth::verify. A namespace cannot have the name of that function.
namespace berth::verification {

/// Where the buffers of a case lie.
enum class Layout { out_of_place, in_place, misaligned };

/// What the ranks contribute.
enum class Coding {
  pattern,  ///< every rank its coded pattern: finds lost, stale and shifted elements too
  exposed,  ///< one rank's words decide each element: every single bit shows, even of a mantissa
};

/// One all-reduce that is tried.
struct Case {
  Type type = Type::float32;
  Op op = Op::sum;
  std::size_t bytes = 0;  ///< per rank; whole elements are carried
  Layout layout = Layout::out_of_place;
  Coding coding = Coding::pattern;
  int shift = 0;  ///< exposed: which rank decides the first element

  [[nodiscard]] std::size_t count() const { return bytes / size_of(type); }
};

/// The types that are checked, in the order of the checks.
std::vector<Type> const& checked_types();

/// The cases of one size.
/// @param bytes the size
/// @param ranks of the communicator
/// @param all_operations also prod, min and max; otherwise sum alone
std::vector<Case> cases_of(std::size_t bytes, int ranks, bool all_operations);

/// "in place" and so on.
std::string_view name(Layout layout);

}  // namespace berth::verification
