// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include <berth/communicator.hpp>
#include <berth/error.hpp>
#include <berth/options.hpp>

/// What the tests of a communicator need around it: this rank, outcomes of all ranks, environment
/// variables on one rank, the set-ups every test runs on.
namespace berth::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// How a call ended on one rank.
struct Outcome {
  int code = 0;  ///< of the Error; 0: returned; -1: another exception
  int rank = -1;
  double seconds = 0;
  std::string text;
  [[nodiscard]] Errc errc() const { return static_cast<Errc>(code); }
};

/// Runs `call` and reports how it ended.
template <class F>
Outcome outcome_of(F&& call) {
  Outcome outcome;
  auto const start = std::chrono::steady_clock::now();
  try {
    call();
  } catch (Error const& error) {
    outcome.code = static_cast<int>(error.code());
    outcome.rank = error.rank();
    outcome.text = error.what();
  } catch (std::exception const& error) {
    outcome.code = -1;
    outcome.text = std::string("not a berth::Error: ") + error.what();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

/// The outcomes of all ranks of the world, by rank. Collective.
inline std::vector<Outcome> gather(Outcome const& mine) {
  struct Wire {
    int code;
    int rank;
    double seconds;
    char text[1024];
  };
  Wire wire = {mine.code, mine.rank, mine.seconds, {}};
  std::snprintf(wire.text, sizeof wire.text, "%s", mine.text.c_str());
  std::vector<Wire> all(static_cast<std::size_t>(world_size()));
  MPI_Allgather(&wire, sizeof wire, MPI_BYTE, all.data(), sizeof wire, MPI_BYTE, MPI_COMM_WORLD);
  std::vector<Outcome> outcomes;
  for (Wire const& one : all) outcomes.push_back({one.code, one.rank, one.seconds, one.text});
  return outcomes;
}

inline std::string describe(std::vector<Outcome> const& outcomes) {
  std::string text;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    Outcome const& one = outcomes[rank];
    text += "\n  rank " + std::to_string(rank) + ": " +
            (one.code < 0 ? "exception" : errc_name(one.errc())) + ", rank at fault " +
            std::to_string(one.rank) + ", after " + std::to_string(one.seconds) + " s: " + one.text;
  }
  return text;
}

/// Every rank threw the same Error with `code`, within `seconds`.
inline testing::AssertionResult agreed(std::vector<Outcome> const& outcomes, Errc code,
                                       double seconds) {
  for (Outcome const& one : outcomes) {
    if (one.errc() != code)
      return testing::AssertionFailure() << "wanted " << errc_name(code) << describe(outcomes);
    if (one.rank != outcomes[0].rank || one.text != outcomes[0].text)
      return testing::AssertionFailure() << "ranks differ" << describe(outcomes);
    if (one.seconds > seconds)
      return testing::AssertionFailure() << "later than " << seconds << " s" << describe(outcomes);
  }
  return testing::AssertionSuccess();
}

/// The same end on every rank, whichever it is.
inline testing::AssertionResult equal(std::vector<Outcome> const& outcomes) {
  return agreed(outcomes, outcomes[0].errc(), 60);
}

/// True on all ranks when `mine` is true on all. Collective.
inline bool everywhere(bool mine) {
  int flag = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return flag != 0;
}

/// True when every rank of the world has the same number. Collective.
inline bool same_everywhere(std::uint64_t mine) {
  std::uint64_t range[2] = {mine, ~mine};
  MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  return range[0] == ~range[1];
}

/// Sets an environment variable and puts the old value back.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) {
    char const* old = std::getenv(name);
    if (old != nullptr) old_ = old;
    if (value != nullptr) setenv(name, value, 1);
  }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;
  ~Variable() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  char const* name_;
  std::optional<std::string> old_;
};

/// One way to carry data.
struct Way {
  char const* name;
  Backend backend;
  char const* shared_memory;  ///< value of BERTH_SHARED_MEMORY; null: not set
};
inline constexpr Way ways[] = {
    {"cpu", Backend::cpu, nullptr},
    {"cpu over shm_open", Backend::cpu, "shm_open"},
    {"cpu without shared memory", Backend::cpu, "none"},
    {"mpi", Backend::mpi, nullptr},
};

/// Options for `way`: does not bind, gives up after `deadline`.
inline Options options_of(Way const& way,
                          std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  Options options;
  options.backend = way.backend;
  options.bind = false;
  options.init_deadline = deadline;
  options.op_deadline = deadline;
  return options;
}

/// A communicator over the world for `way`. Collective.
inline Communicator open(Way const& way, MPI_Comm parent = MPI_COMM_WORLD,
                         std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
  Variable const variable("BERTH_SHARED_MEMORY", way.shared_memory);
  return Communicator(parent, options_of(way, deadline));
}

/// Text without the commas between digits, so that 70,113 is found as 70113.
inline std::string plain_numbers(std::string const& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const between = text[i] == ',' && i > 0 && i + 1 < text.size() &&
                         std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
                         std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
    if (!between) plain += text[i];
  }
  return plain;
}

}  // namespace berth::test
