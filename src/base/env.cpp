// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <base/env.hpp>
#include <base/error.hpp>
#include <base/names.hpp>
#include <base/text.hpp>
#include <base/units.hpp>

namespace berth::base {
namespace {

/// Rows of the table below, by name.
enum class Key : std::size_t {
  backend,
  bind,
  binding,
  smt,
  fill,
  on_lost,
  init_deadline,
  op_deadline,
  log,
  log_file,
  shared_memory,
  cudart_lib,
  nccl_lib,
  allow_nccl_comm_id
};

constexpr std::array<Variable, 14> table = {{
    {"BERTH_BACKEND", "word", "automatic", "automatic, cpu, mpi, nccl",
     "What carries the data: `cpu` is shared memory inside a node and point-to-point messages "
     "between nodes, `nccl` is NCCL for device memory beside that, `mpi` is MPI's own collectives, "
     "`automatic` chooses.",
     "0.1.0"},
    {"BERTH_BIND", "bool", "1", "1, on, yes, true, 0, off, no, false",
     "Whether the process's first communicator binds the calling thread and its memory as planned.",
     "0.1.0"},
    {"BERTH_BINDING", "word", "automatic", "automatic, respect, rebind",
     "What to do about a binding that the launcher made: `automatic` keeps one that was asked for "
     "and touches the NUMA node of the rank's device, `respect` never leaves it, `rebind` always "
     "replaces it inside the cgroup and moves threads that already run.",
     "0.1.0"},
    {"BERTH_SMT", "bool", "1", "1, on, yes, true, 0, off, no, false",
     "Whether a rank gets all allowed hardware threads of its cores, or the first of each.",
     "0.1.0"},
    {"BERTH_FILL", "bool", "0", "1, on, yes, true, 0, off, no, false",
     "Whether the cores of NUMA nodes without a device are dealt out too.", "0.1.0"},
    {"BERTH_ON_LOST", "word", "raise", "raise, exit",
     "What to do when a rank is lost: `raise` throws berth::Error, `exit` ends the process with "
     "one line and the agreed exit code. The command line tool always uses `exit`.",
     "0.1.0"},
    {"BERTH_INIT_DEADLINE", "duration", "60s", "1ms to 100 days: 500ms, 3s, 2min, 1h",
     "How long start-up waits while no rank makes progress. A bare number is seconds.", "0.1.0"},
    {"BERTH_OP_DEADLINE", "duration", "", "1ms to 100 days: 500ms, 3s, 2min, 1h",
     "How long an operation waits while no rank makes progress. A bare number is seconds. Without "
     "it a late rank is reported once after 60 s and waited for.",
     "0.1.0"},
    {"BERTH_LOG", "word", "warn", "error, warn, info, debug",
     "The least severe messages that are logged.", "0.1.0"},
    {"BERTH_LOG_FILE", "path", "", "a path; %h is the host, %r the rank, %% a percent sign",
     "Where the log goes, appended; stderr without it.", "0.1.0"},
    {"BERTH_SHARED_MEMORY", "word", "memfd", "memfd, shm_open, none",
     "How ranks of one node share memory; `none` uses messages only.", "0.1.0"},
    {"BERTH_CUDART_LIB", "path", "", "a file",
     "The CUDA runtime to open instead of the one that is found.", "0.1.0"},
    {"BERTH_NCCL_LIB", "path", "", "a file",
     "The libnccl to open instead of the one that is found.", "0.1.0"},
    {"BERTH_ALLOW_NCCL_COMM_ID", "bool", "0", "1, on, yes, true, 0, off, no, false",
     "Whether NCCL_COMM_ID may be set although MPI carries the id.", "0.1.0"},
}};

constexpr std::string_view prefix = "BERTH_";

Variable const& row(Key key) {
  return table[static_cast<std::size_t>(key)];
}

/// The accepted words of a "word" or "bool" variable.
std::vector<std::string> words(Variable const& variable) {
  std::vector<std::string> list;
  for (std::string const& word : split(variable.accepts, ',')) list.emplace_back(trim(word));
  return list;
}

[[noreturn]] void refuse(Variable const& variable, std::string_view value, std::string_view rule) {
  fail(Errc::bad_configuration, fmt::format("{}={}: {}", variable.name, printable(value), rule));
}

[[noreturn]] void refuse_word(Variable const& variable, std::string_view value) {
  std::vector<std::string> const accepted = words(variable);
  std::string rule = fmt::format("not one of {}", join(accepted, ", "));
  std::string const meant = nearest(value, accepted);
  if (!meant.empty()) rule += fmt::format("; did you mean {}?", meant);
  refuse(variable, value, rule);
}

/// A word that must be among the accepted ones.
std::string checked_word(Variable const& variable, std::string const& value) {
  std::vector<std::string> const accepted = words(variable);
  if (std::find(accepted.begin(), accepted.end(), value) == accepted.end())
    refuse_word(variable, value);
  return value;
}

std::chrono::milliseconds checked_duration(Variable const& variable, std::string const& value) {
  auto const duration = parse_duration(value);
  if (!duration || duration->count() == 0) {
    refuse(variable, value,
           "not a duration of at least 1ms such as 500ms, 3s, 2min (a bare number is seconds)");
  }
  return *duration;
}

template <class Enum>
std::optional<Enum> checked_enum(Variable const& variable, std::optional<std::string> const& text) {
  if (!text) return std::nullopt;
  auto const value = parse_name<Enum>(*text);
  if (!value) refuse_word(variable, *text);
  return value;
}

}  // namespace

std::vector<Variable> const& variables() {
  static std::vector<Variable> const list(table.begin(), table.end());
  return list;
}

Environment Environment::process() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view const text(*entry);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return {[](char const* name) -> char const* { return std::getenv(name); }, std::move(names)};
}

Environment::Environment(Lookup lookup, std::vector<std::string> names)
    : lookup_(std::move(lookup)), names_(std::move(names)) {}

std::optional<std::string> Environment::raw(std::string_view name) const {
  char const* const value = lookup_(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::vector<std::string> Environment::list(std::vector<std::string> const& names) const {
  std::vector<std::string> values;
  for (std::string const& name : names) values.push_back(raw(name).value_or(""));
  return values;
}

std::optional<std::string> Environment::value_of(Variable const& variable) const {
  auto value = raw(variable.name);
  if (value && value->empty()) {
    fail(Errc::bad_configuration,
         fmt::format("{} is empty: unset it or give {}", variable.name, variable.accepts));
  }
  return value;
}

std::optional<Backend> Environment::backend() const {
  return checked_enum<Backend>(row(Key::backend), value_of(row(Key::backend)));
}

std::optional<bool> Environment::flag(Variable const& variable) const {
  auto const text = value_of(variable);
  if (!text) return std::nullopt;
  std::string const word = checked_word(variable, *text);
  return word == "1" || word == "on" || word == "yes" || word == "true";
}

std::optional<bool> Environment::bind() const {
  return flag(row(Key::bind));
}

std::optional<Binding> Environment::binding() const {
  return checked_enum<Binding>(row(Key::binding), value_of(row(Key::binding)));
}

std::optional<bool> Environment::smt() const {
  return flag(row(Key::smt));
}

std::optional<bool> Environment::fill() const {
  return flag(row(Key::fill));
}

std::optional<OnLost> Environment::on_lost() const {
  return checked_enum<OnLost>(row(Key::on_lost), value_of(row(Key::on_lost)));
}

std::optional<std::chrono::milliseconds> Environment::init_deadline() const {
  auto const text = value_of(row(Key::init_deadline));
  if (!text) return std::nullopt;
  return checked_duration(row(Key::init_deadline), *text);
}

std::optional<std::chrono::milliseconds> Environment::op_deadline() const {
  auto const text = value_of(row(Key::op_deadline));
  if (!text) return std::nullopt;
  return checked_duration(row(Key::op_deadline), *text);
}

std::string Environment::log_level() const {
  Variable const& variable = row(Key::log);
  auto const text = value_of(variable);
  return text ? checked_word(variable, *text) : std::string(variable.fallback);
}

std::string Environment::log_file() const {
  Variable const& variable = row(Key::log_file);
  std::string path = value_of(variable).value_or("");
  for (std::size_t i = path.find('%'); i != std::string::npos; i = path.find('%', i + 2)) {
    if (i + 1 == path.size() || std::string_view("hr%").find(path[i + 1]) == std::string_view::npos)
      refuse(variable, path, "after % only h (host), r (rank) or another % may stand");
  }
  return path;
}

std::string Environment::shared_memory() const {
  Variable const& variable = row(Key::shared_memory);
  auto const text = value_of(variable);
  return text ? checked_word(variable, *text) : std::string(variable.fallback);
}

std::string Environment::cudart_lib() const {
  return value_of(row(Key::cudart_lib)).value_or("");
}

std::string Environment::nccl_lib() const {
  return value_of(row(Key::nccl_lib)).value_or("");
}

bool Environment::allow_nccl_comm_id() const {
  return flag(row(Key::allow_nccl_comm_id)).value_or(false);
}

void Environment::check_names() const {
  std::vector<std::string> known;
  known.reserve(table.size());
  for (Variable const& variable : table) known.emplace_back(variable.name);
  // The smallest one, so that every rank names the same whatever order its environment has.
  std::string const* unknown = nullptr;
  for (std::string const& name : names_) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (unknown == nullptr || name < *unknown) unknown = &name;
  }
  if (unknown == nullptr) return;
  std::string const meant = nearest(*unknown, known);
  fail(Errc::bad_configuration,
       meant.empty()
           ? fmt::format("{} is not known; unset it (`berth info` lists the known ones)",
                         printable(*unknown))
           : fmt::format("{} is not known; did you mean {}?", printable(*unknown), meant));
}

void set_variable(char const* name, std::string const& value) {
  if (setenv(name, value.c_str(), 1) != 0) fail_errno(fmt::format("setenv {}", name), errno);
}

std::vector<Setting> Environment::settings() const {
  std::vector<Setting> list;
  for (Variable const& variable : table) {
    auto const value = raw(variable.name);
    list.push_back({std::string(variable.name),
                    value ? printable(*value) : std::string(variable.fallback),
                    value ? Origin::environment : Origin::fallback});
  }
  return list;
}

std::vector<std::string> Environment::describe() const {
  std::vector<std::string> lines;
  for (Setting const& setting : settings()) {
    lines.push_back(fmt::format("{:<20} {:<10} ({})", setting.name,
                                setting.value.empty() ? "-" : setting.value,
                                setting.origin == Origin::environment ? "environment" : "default"));
  }
  return lines;
}

}  // namespace berth::base
