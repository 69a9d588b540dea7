// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <berth/communicator.hpp>
#include <berth/export.hpp>
#include <berth/finding.hpp>

namespace berth {

/// What verify checks. Must be the same on every rank.
struct VerifyOptions {
  /// Bytes per rank of each coded all-reduce; each is rounded down to whole elements.
  std::vector<std::size_t> sizes = {8, 1024, 65536, 1048576, 8388608};
  int rounds = 1;  ///< how often the whole set is repeated; at least 1
};

/// Collective, blocking. Carries coded data at several sizes, types and alignments, in and out of
/// place; when something arrives changed, finds out whose contribution it was. The result is the
/// same on every rank. Empty: the fabric is good.
/// @throws Error invalid_argument, mismatch, lost, timeout, aborted, mpi
[[nodiscard]] BERTH_API std::vector<Finding> verify(Communicator& communicator,
                                                    VerifyOptions const& options = {});

}  // namespace berth
