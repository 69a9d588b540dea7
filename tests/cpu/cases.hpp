// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <model/descriptor.hpp>

#include "cpu/data.hpp"
#include "cpu/thread_ranks.hpp"

namespace berth::cpu::test {

/// One operation as a test calls it on every rank.
struct Case {
  model::Collective collective = model::Collective::barrier;
  std::size_t count = 0;
  Type type = Type::int32;
  Op op = Op::sum;
  int root = 0;
  bool is_in_place = false;
  std::size_t shift = 0;   ///< bytes that the buffers are off alignment
  std::uint64_t salt = 0;  ///< of the data
  Bytes::End end = Bytes::End::guarded;
};

/// Runs it on this rank and compares the result, the input and the guards byte by byte.
/// Returns false, and fails the test, when anything differs.
bool run_case(Rank& rank, Case const& call);

}  // namespace berth::cpu::test
