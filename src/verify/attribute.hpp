// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <berth/finding.hpp>
#include <verify/runner.hpp>

/// Who is to blame for wrong data. Everything here is collective, uses only what all ranks have
/// gathered, and so gives the same answer on every rank.
namespace berth::verification {

/// One repetition and what every rank saw of it.
struct Try {
  Round round;
  std::vector<Observation> seen;  ///< by rank
};

/// Whose contribution arrives wrong in an all-reduce that failed.
///
/// 1. A rank whose input is no longer what it filled in is at fault itself.
/// 2. Each rank in turn is the only one that is heard (Probe), at the failing size, type and place;
///    up to three times, because a fault may be intermittent. Who is heard wrong is confirmed by
///    further rounds. When only one rank sees it whoever is heard, that receiver is at fault.
/// 3. The failing collective itself again, for faults that need its operation; then broadcasts.
/// A fault that does not recur is reported with rank -1.
std::vector<Finding> attribute(Runner& runner, Try const& failed);

/// Whose broadcast arrives wrong, or who receives every broadcast wrong.
std::vector<Finding> attribute_broadcast(Runner& runner, Type type, std::size_t bytes);

}  // namespace berth::verification
