// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <berth/finding.hpp>
#include <verify/runner.hpp>

/// Every collective, type and operation: the sizes of the check carry only some of them.
namespace berth::verification {

/// Collective, blocking: every collective with every type, and where it reduces with every
/// operation, once with coded data of a few hundred elements. Where an element's way tells whose it
/// was (all but the reductions), that rank is named; otherwise the rank is -1.
/// @param made grows by the number of collectives
/// @throws Error out_of_memory, mismatch, lost, timeout, aborted, mpi
std::vector<Finding> check_others(Runner& runner, int& made);

}  // namespace berth::verification
