// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace berth::base {

/// How to wait. Everything that waits for another rank waits through this one interface, so that
/// every wait has a bound, makes MPI progress, and ends when a rank is lost.
class Patience {
 public:
  virtual ~Patience() = default;
  /// Returns when `ready()` is true. `peer` is the rank waited for, -1 for several or not known.
  /// @throws Error lost, timeout, mismatch, aborted
  virtual void until(std::function<bool()> const& ready, int peer) = 0;
};

}  // namespace berth::base
