// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <berth/errc.hpp>
#include <berth/export.hpp>

namespace berth {

/// The enumerator's name, for example "no_driver". Local. Never null; "unknown" for other values.
BERTH_API char const* errc_name(Errc code) noexcept;

/// One line saying what the code means in general. Local. Never null.
BERTH_API char const* errc_text(Errc code) noexcept;

/// The exit code that belongs to an error (docs/cli.md): 0 to 5. Local.
BERTH_API int exit_code(Errc code) noexcept;

/// The only exception Berth throws. Thrown by a collective it is the same on every rank that can
/// still agree. what() is one line: who, what, what to do, where.
class BERTH_API Error : public std::runtime_error {
 public:
  /// @param code what went wrong
  /// @param rank the rank at fault, numbered in the communicator's parent; -1 when not known
  /// @param message one line without the trailing newline
  /// @param reported_elsewhere another rank reports this very error
  Error(Errc code, int rank, std::string const& message, bool reported_elsewhere = false)
      : std::runtime_error(message),
        code_(code),
        rank_(rank),
        reported_elsewhere_(reported_elsewhere) {}
  /// What went wrong. Local.
  [[nodiscard]] Errc code() const noexcept { return code_; }
  /// The rank at fault in the parent communicator; -1 when not known. Local.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// True when all ranks throw this error and another one is to print it: a job that ends says why
  /// once, not once per rank. run_main() keeps to it. Local.
  [[nodiscard]] bool reported_elsewhere() const noexcept { return reported_elsewhere_; }

 private:
  Errc code_;
  int rank_;
  bool reported_elsewhere_;
};

}  // namespace berth
