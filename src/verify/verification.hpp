// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <berth/finding.hpp>
#include <berth/verify.hpp>
#include <comm/impl.hpp>

namespace berth::verification {

/// What a check found and how much it tried.
struct Outcome {
  std::vector<Finding> findings;  ///< empty: the fabric is good
  int sizes = 0;
  int types = 0;
  int collectives = 0;  ///< coded collectives that were compared
};

/// As berth::verify, for tools that have an Impl and want the numbers too.
/// Collective. @throws Error invalid_argument, mismatch, lost, timeout, aborted, mpi
Outcome check(Communicator::Impl& impl, VerifyOptions const& options);

}  // namespace berth::verification
