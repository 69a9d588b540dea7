// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/options.hpp>

namespace berth::base {

/// One environment variable of Berth. The table in env.cpp is the only place that lists them;
/// docs/env.md is generated from it.
struct Variable {
  std::string_view name;      ///< "BERTH_BACKEND"
  std::string_view type;      ///< "word", "duration", "bytes", "bool", "path", "text"
  std::string_view fallback;  ///< default as text; empty: none
  std::string_view accepts;   ///< accepted values and unit
  std::string_view help;      ///< one line
  std::string_view since;     ///< version
};

/// The whole table, in the order of docs/env.md.
std::vector<Variable> const& variables();

/// Where a value came from.
enum class Origin { fallback, environment, caller };

/// One variable as it stands.
struct Setting {
  std::string name;   ///< "BERTH_BACKEND"
  std::string value;  ///< printable; the default when not set; empty: none
  Origin origin = Origin::fallback;
};

/// The environment of one process, read through the table. Local. Every getter throws
/// Errc::bad_configuration for a text it does not accept, naming variable, value, rule and fix.
class Environment {
 public:
  using Lookup = std::function<char const*(char const*)>;
  /// The process's environment; the only place that calls getenv.
  static Environment process();
  /// @param lookup returns the value of a name or null; @param names all names that are set
  Environment(Lookup lookup, std::vector<std::string> names);

  [[nodiscard]] std::optional<Backend> backend() const;
  [[nodiscard]] std::optional<bool> bind() const;
  [[nodiscard]] std::optional<Binding> binding() const;
  [[nodiscard]] std::optional<bool> smt() const;
  [[nodiscard]] std::optional<bool> fill() const;
  [[nodiscard]] std::optional<OnLost> on_lost() const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> init_deadline() const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> op_deadline() const;
  [[nodiscard]] std::string log_level() const;  ///< BERTH_LOG: error warn info debug
  [[nodiscard]] std::string log_file() const;   ///< BERTH_LOG_FILE with %h and %r; empty: stderr
  /// Which shared memory to use: "memfd" (default), "shm_open", "none". BERTH_SHARED_MEMORY.
  [[nodiscard]] std::string shared_memory() const;
  [[nodiscard]] std::string cudart_lib() const;   ///< BERTH_CUDART_LIB; empty: not set
  [[nodiscard]] std::string nccl_lib() const;     ///< BERTH_NCCL_LIB; empty: not set
  [[nodiscard]] bool allow_nccl_comm_id() const;  ///< BERTH_ALLOW_NCCL_COMM_ID
  /// Any variable by name, BERTH's or another's (for launcher); absent when not set.
  [[nodiscard]] std::optional<std::string> raw(std::string_view name) const;
  /// The values of these variables, empty where one is not set.
  [[nodiscard]] std::vector<std::string> list(std::vector<std::string> const& names) const;
  /// Throws Errc::bad_configuration for the first BERTH_* name that is not in the table, with its
  /// nearest known name.
  void check_names() const;
  /// Every variable of the table with its value and origin. Does not judge the values.
  [[nodiscard]] std::vector<Setting> settings() const;
  /// One line per variable: name, value and its origin (for `berth info`).
  [[nodiscard]] std::vector<std::string> describe() const;

 private:
  [[nodiscard]] std::optional<std::string> value_of(Variable const& variable) const;
  [[nodiscard]] std::optional<bool> flag(Variable const& variable) const;

  Lookup lookup_;
  std::vector<std::string> names_;
};

/// Sets a variable of this process for the libraries in it; while no other thread reads them.
/// @throws Error system
void set_variable(char const* name, std::string const& value);

/// The text of docs/env.md. The test lint.env_docs compares.
std::string env_markdown();
/// The text of docs/errors.md.
std::string errors_markdown();

}  // namespace berth::base
