// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <base/env.hpp>
#include <cli/arguments.hpp>
#include <cli/last_words.hpp>
#include <cli/output.hpp>
#include <comm/impl.hpp>
#include <launcher/launcher.hpp>
#include <sys/thread_probe.hpp>

namespace berth::cli {

/// A run with a communicator, from MPI_Init to the last barrier. A rank that is lost ends the
/// process: by its watchdog, with one line and the exit code of docs/cli.md.
class Job {
 public:
  /// Collective: starts MPI and the communicator.
  /// @throws Error as Communicator; mismatch when the launcher announced more ranks than MPI has
  Job(Arguments const& arguments, base::Environment const& environment, launcher::Step const& step,
      comm::Seams seams, Output& output);
  Job(Job const&) = delete;
  Job& operator=(Job const&) = delete;
  ~Job() = default;

  [[nodiscard]] Communicator::Impl& impl() { return *impl_; }
  /// The start of every report of this job.
  [[nodiscard]] model::VerifyReport const& report() const { return report_; }
  [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }

  /// Collective: the speaking rank writes; when it cannot, all ranks throw the same Error.
  void publish(std::function<void()> const& write);
  /// Collective: the last barrier and the end of MPI.
  void close();

 private:
  std::unique_ptr<sys::ThreadProbe> probe_;  ///< outlives the watchdog's thread
  LastWords last_words_;
  std::chrono::milliseconds deadline_;
  std::unique_ptr<Communicator::Impl> impl_;
  model::VerifyReport report_;
};

}  // namespace berth::cli
