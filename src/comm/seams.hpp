// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <gpu/runtime.hpp>

#include <berth/placement.hpp>
#include <coll/backend.hpp>
#include <ledger/verdict.hpp>
#include <model/node.hpp>

namespace berth::comm {

/// What tools and tests put between the parts of a Communicator. Everything may be left empty.
struct Seams {
  /// Wraps the communicator's data backend (tests: a double that flips bits while armed).
  std::function<std::unique_ptr<coll::Backend>(std::unique_ptr<coll::Backend>)> wrap_backend;
  /// Whether start-up ends with the first coded collective, which fails the communicator when data
  /// arrives changed. `berth verify` does without: it checks thoroughly and says whose data it is.
  bool first_data = true;
  /// A place that this process has already, from the communicator that this one is a part of: it is
  /// kept and nothing is planned or bound.
  std::optional<Placement> placement = {};
  model::PuSet allowed = {};  ///< PUs of the host that may be used; with `placement`
  std::shared_ptr<gpu::Runtime> runtime = {};  ///< already open, its device set; with `placement`
  /// Is the main thread alive inside MPI? (CLI: a sys::ThreadProbe.)
  std::function<bool()> probe;
  /// Called by the one speaking rank after its line, before the process ends.
  std::function<void(ledger::Verdict const&)> before_end;
};

}  // namespace berth::comm
