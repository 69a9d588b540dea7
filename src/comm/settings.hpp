// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <base/env.hpp>
#include <berth/error.hpp>
#include <berth/options.hpp>

namespace berth::comm {

/// The resolved choices of one communicator: caller before environment before default.
struct Settings {
  Backend backend = Backend::automatic;
  bool bind = true;
  Binding binding = Binding::automatic;
  bool smt = true;
  bool fill = false;
  OnLost on_lost = OnLost::raise;
  std::chrono::milliseconds init_deadline = std::chrono::seconds(60);
  std::optional<std::chrono::milliseconds> op_deadline;
  std::string shared_memory = "memfd";
  std::string log_level = "warn";
  std::string log_file;
  /// What could not be read. Not thrown: a rank with a bad variable still answers the roll call,
  /// and then all ranks throw.
  Errc code = Errc::ok;
  std::string text;

  /// The same choices for a communicator that is a part of this one; it does not bind.
  [[nodiscard]] Options options() const;
};

/// Reads everything, keeps the first failure in code and text. Never throws.
Settings resolve(Options const& options, base::Environment const& environment);

}  // namespace berth::comm
