// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <berth/options.hpp>
#include <ledger/share.hpp>
#include <ledger/watch.hpp>
#include <mpi/comm.hpp>
#include <roster/attendance.hpp>

/// Who is here: the roll call.
namespace berth::roster {

/// What a rank says of itself. Plain data of 256 bytes: the budget per rank of the job.
struct Entry {
  std::int32_t pid = 0;
  std::uint32_t version = 0;  ///< BERTH_VERSION
  std::uint64_t start_time = 0;
  char host[72] = {};
  char boot_id[40] = {};
  char shared_memory[16] = {};
  // What must be the same on every rank:
  std::int64_t init_deadline_ms = 0;
  std::int64_t op_deadline_ms = 0;  ///< -1: none
  std::uint8_t backend = 0;
  std::uint8_t bind = 0;
  std::uint8_t on_lost = 0;
  std::uint8_t binding = 0;
  std::uint8_t smt = 0;
  std::uint8_t fill = 0;
  std::uint8_t reserved[90] = {};
};
static_assert(sizeof(Entry) == 256);

/// All ranks, the same on every rank.
struct Roster {
  std::vector<Entry> entries;           ///< by rank
  std::vector<std::string> host_names;  ///< by order of their lowest rank
  std::vector<int> host_of_rank;        ///< index into host_names
  ledger::LocalGroup local;             ///< the ranks of this host

  /// Host name by rank, for texts.
  [[nodiscard]] std::vector<std::string> names_by_rank() const;
};

/// Fills in what this process knows of itself; the rest of the fields are the caller's.
Entry own_entry();

/// Collective, bounded by the watch's limits: every rank reports to rank 0, which hands the whole
/// list to all. While it waits, rank 0's attendance knows who has not answered.
/// @throws Error lost, timeout, mpi
Roster call(mpi::Comm const& comm, Entry const& own, Attendance& attendance, ledger::Watch& watch);

/// The first difference in what must be the same: version, options. Local.
/// @throws Error mismatch naming rank, host, option and both values
void check_same(Roster const& roster);

/// Compares the hosts of the roster with MPI's own view. Local.
/// @throws Error mismatch naming the host and both numbers
void check_hosts(Roster const& roster, int rank, mpi::Comm::Locals const& seen_by_mpi);

}  // namespace berth::roster
