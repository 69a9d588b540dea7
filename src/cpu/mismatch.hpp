// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <ledger/ledger.hpp>
#include <model/descriptor.hpp>

namespace berth::cpu {

/// What one rank does; no operation when it could not be read.
struct Doing {
  int rank = -1;
  std::optional<model::Descriptor> operation;
};

/// "rank 2 calls all_reduce of 7 float32 (sum) as operation 12, but rank 0 calls barrier ...".
/// @param number of the operation at the finder
/// @param stray the rank that the verdict names
ledger::Verdict mismatch(std::uint64_t number, Doing const& stray, Doing const& other);

}  // namespace berth::cpu
