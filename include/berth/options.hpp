// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include <berth/types.hpp>

namespace berth {

/// What to do when a rank is lost (dead, stopped, silent past its deadline).
/// `raise`: the other ranks throw Error. `exit`: one line on stderr, then every other rank of the
/// node ends with the agreed exit code, even out of a hanging MPI call.
enum class OnLost : std::uint8_t { raise = 0, exit = 1 };

/// What to do about a binding that the launcher made. `automatic`: keep one that somebody asked for
/// and that touches the NUMA node of the rank's device, replace any other inside the cgroup.
/// `respect`: never leave it. `rebind`: always replace it, and move threads that already run too.
enum class Binding : std::uint8_t { automatic = 0, respect = 1, rebind = 2 };

/// Choices of a Communicator. What is left empty comes from the environment (docs/env.md), then
/// from the default named here. Deadlines are above zero. Must be the same on every rank, otherwise
/// Errc::mismatch.
struct Options {
  std::optional<Backend> backend = {};  ///< BERTH_BACKEND; automatic
  std::optional<bool> bind = {};        ///< BERTH_BIND; true
  std::optional<Binding> binding = {};  ///< BERTH_BINDING; automatic
  std::optional<bool> smt = {};         ///< BERTH_SMT; true: all hardware threads of a core
  std::optional<bool> fill = {};        ///< BERTH_FILL; false: cores far from any device stay idle
  std::optional<OnLost> on_lost = {};   ///< BERTH_ON_LOST; raise
  std::optional<std::chrono::milliseconds> init_deadline = {};  ///< BERTH_INIT_DEADLINE; 60 s
  /// BERTH_OP_DEADLINE; none: a late rank is reported once after 60 s and waited for, a dead one
  /// ends the wait at once.
  std::optional<std::chrono::milliseconds> op_deadline = {};
};

}  // namespace berth
