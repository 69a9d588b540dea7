// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <model/descriptor.hpp>
#include <pattern/pattern.hpp>

/// Coded data of a whole collective: what each rank puts in, and what must come out.
namespace berth::pattern {

/// One collective with coded data. send_recv is a ring: every rank sends to the next one.
struct Coded {
  model::Collective collective = model::Collective::all_reduce;
  Code code;              ///< the operation counts where something is reduced
  std::size_t count = 0;  ///< as model::Collective says
  int root = 0;           ///< of reduce and broadcast
};

/// Elements of a rank's `in` and `out`.
std::size_t in_elements(Coded const& coded);
std::size_t out_elements(Coded const& coded);
/// Elements of a buffer that serves as both, and where in it `in` and `out` begin, for `rank`.
struct InPlace {
  std::size_t elements = 0;
  std::size_t in = 0;
  std::size_t out = 0;
};
InPlace in_place(Coded const& coded, int rank);

/// Writes what `rank` puts in.
void fill_input(Coded const& coded, int rank, void* in);
/// Compares what `rank` has got; where it gets nothing (reduce, not the root) all is right.
Check check_output(Coded const& coded, int rank, void const* out);

}  // namespace berth::pattern
