// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bench/sweep.hpp>
#include <berth/options.hpp>
#include <berth/verify.hpp>

namespace berth::cli {

/// What is to be done.
enum class Verb { help, version, info, map, verify, bench };

/// `berth map`.
struct MapArguments {
  std::vector<std::string> topologies;  ///< lstopo XML files, one host each
  std::optional<int> ranks_per_node;    ///< absent: one per device, at least one
  int nodes = 1;                        ///< every topology stands for so many hosts
  std::optional<bool> smt;              ///< ranks get all hardware threads of their cores
  std::optional<bool> fill;             ///< cores far from any device are dealt out too
  std::optional<Binding> binding;       ///< what to do about the launcher's binding
  std::string svg;                      ///< --svg: a path; empty: not given
  /// The plan is for a machine that is described, not for the ranks that run here.
  [[nodiscard]] bool is_imagined() const {
    return !topologies.empty() || ranks_per_node || nodes > 1;
  }
};

/// The command line as values; nothing in here is unchecked text but names of files.
struct Arguments {
  Verb verb = Verb::help;
  std::string help;  ///< the text, for Verb::help
  std::string json;  ///< --json: a path, "-" for stdout; empty: not given
  std::optional<std::chrono::milliseconds> deadline;
  std::optional<Backend> backend;
  MapArguments map;
  VerifyOptions verify;
  bench::Plan bench;
  std::string csv;  ///< --csv: a path; empty: not given
};

/// Reads the command line. Local, without side effects.
/// @throws Error invalid_argument: one line naming option, value, rule and fix
Arguments parse(int argc, char const* const* argv);

/// --json of a command line that cannot be parsed, as far as it can be seen; empty: none.
std::string json_path_of(int argc, char const* const* argv);

}  // namespace berth::cli
