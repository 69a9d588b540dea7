// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <launcher/launcher.hpp>
#include <ledger/witness.hpp>
#include <sys/process.hpp>
#include <sys/sign.hpp>

namespace berth::roster {

/// Which ranks have answered the roll call, at rank 0. Written by the waiting thread.
using Answers = std::vector<std::atomic<bool>>;

/// Who of this host's ranks has come to the start-up, before MPI or shared memory can tell: the
/// launcher's environment finds the sibling processes, a sign that each rank shows tells whether it
/// has come. Ranks of other hosts are known at rank 0 alone, from their answers.
class Attendance final : public ledger::Witness {
 public:
  /// This process shows its sign from now on, until the Attendance ends.
  /// @param host this host's name, for texts
  Attendance(launcher::Step step, std::string host);

  /// The start-up is of a communicator with these ranks of MPI_COMM_WORLD, by its own numbers;
  /// until then all ranks of the job are meant.
  void set_members(std::vector<int> world_ranks);
  /// Rank 0's list, from when it begins to collect answers.
  void set_answers(std::shared_ptr<Answers const> answers);

  /// As if `expired` also when a sibling has reported already.
  std::vector<ledger::Blame> look(bool expired) override;
  [[nodiscard]] bool is_speaker() override;
  bool wait_for_speaker() override;
  void spoken() override;

 private:
  /// A process that the same launcher started on this host.
  struct Sibling {
    int rank = -1;  ///< in the communicator
    int pid = 0;
    std::uint64_t start_time = 0;
    sys::ProcessHandle handle;
    bool is_blamed = false;
  };

  void find_siblings();
  [[nodiscard]] int rank_of(int world_rank) const;
  std::vector<ledger::Blame> look_at_siblings(bool expired);
  [[nodiscard]] std::vector<ledger::Blame> look_at_answers() const;
  [[nodiscard]] Sibling const* speaker() const;

  std::mutex mutex_;  ///< the watchdog asks, the waiting thread tells
  launcher::Step step_;
  std::string host_;
  sys::Sign come_;
  sys::Sign spoken_;
  std::vector<int> members_;  ///< world ranks; empty: all
  std::shared_ptr<Answers const> answers_;
  std::optional<std::vector<Sibling>> siblings_;  ///< other ranks of this host; absent: not looked
};

}  // namespace berth::roster
