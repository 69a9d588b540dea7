// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <verify/cases.hpp>

/// The sentences of findings. Pure.
namespace berth::verification {

/// What is known of a named fault.
struct Evidence {
  bool is_bit = false;      ///< one flipped bit explains every wrong round
  int bit = -1;             ///< its number in the element
  std::size_t element = 0;  ///< first wrong element
  int seen = 0;             ///< rounds in which it was wrong
  int tries = 0;            ///< rounds made
  int observers = 0;        ///< ranks that saw it
  int ranks = 0;            ///< ranks of the communicator
};

/// "float32, sum, 1 MiB"; the layout is named unless it is the plain one.
std::string describe(Case const& what);
/// "delivers a flipped bit: element 70,113, bit 17, in 3 of 3 rounds, seen by 5 of 5 ranks".
std::string delivers(Evidence const& evidence);
/// The same of a rank that receives it wrong.
std::string receives(Evidence const& evidence);

}  // namespace berth::verification
