// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace berth::base {

/// Severity, most severe first.
enum class Level { error = 0, warn = 1, info = 2, debug = 3 };
/// The level of a word of BERTH_LOG: error warn info debug; absent for anything else.
std::optional<Level> parse_level(std::string_view word);

/// The log of one communicator: to stderr or to BERTH_LOG_FILE, one write per line, never the
/// result. Thread safe because a line is one write.
class Log {
 public:
  /// Warnings and errors to stderr.
  Log() = default;
  /// @param path with %h (host) and %r (rank) replaced; empty: stderr. A file that cannot be opened
  ///   throws Errc::bad_configuration.
  Log(Level level, std::string const& path, std::string_view host, int rank);
  ~Log();
  Log(Log&& other) noexcept;
  Log& operator=(Log&& other) noexcept;

  [[nodiscard]] bool enabled(Level level) const { return level <= level_; }
  /// Writes "berth: rank 5@n2: warn: <text>" when the level is enabled.
  void line(Level level, std::string_view text) const noexcept;
  /// fmt-style; arguments are not formatted when the level is off.
  template <class... Args>
  void write(Level level, fmt::format_string<Args...> format, Args&&... args) const {
    if (enabled(level)) line(level, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  Level level_ = Level::warn;
  int descriptor_ = 2;
  bool owned_ = false;
  std::string prefix_;
};

}  // namespace berth::base
