// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <cli/arguments.hpp>
#include <cli/output.hpp>
#include <ledger/verdict.hpp>
#include <model/verdicts.hpp>

namespace berth::cli {

/// What is said on stdout and in the document when a rank is lost. Called by the watchdog's thread
/// while the main thread hangs, so everything it needs is handed over before and not changed.
class LastWords {
 public:
  /// @param output outlives this object
  LastWords(Verb verb, Output& output) : verb_(verb), output_(output) {}

  /// From now on the communicator is known. Called once, by the main thread.
  /// @param host_of_rank host names by rank
  void know(model::VerifyReport report, std::vector<std::string> host_of_rank);
  /// The last line and the document. Never throws: the process is about to end.
  void say(ledger::Verdict const& verdict) noexcept;

 private:
  struct Known {
    model::VerifyReport report;
    std::vector<std::string> host_of_rank;
  };

  Verb verb_;
  Output& output_;
  std::unique_ptr<Known const> owner_;
  std::atomic<Known const*> known_{nullptr};
};

}  // namespace berth::cli
