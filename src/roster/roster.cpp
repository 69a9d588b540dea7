// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/names.hpp>
#include <berth/version.hpp>
#include <mpi/value.hpp>
#include <roster/roster.hpp>
#include <sys/host.hpp>
#include <sys/process.hpp>

namespace berth::roster {

namespace {

constexpr int entry_tag = 111;

template <std::size_t N>
void copy_text(char (&to)[N], std::string const& from) {
  std::strncpy(to, from.c_str(), N - 1);
}

std::vector<Entry> collect(mpi::Comm const& comm, Entry const& own, Attendance& attendance,
                           ledger::Watch& watch) {
  auto const size = static_cast<std::size_t>(comm.size());
  // Held beyond a wait that ends with an error: MPI may still write to it.
  auto* const entries = new std::vector<Entry>(size);
  (*entries)[0] = own;
  auto const arrived = std::make_shared<Answers>(size);
  (*arrived)[0].store(true);
  std::vector<mpi::Request> requests(size);
  for (std::size_t rank = 1; rank < size; ++rank) {
    requests[rank] =
        comm.receive(&(*entries)[rank], sizeof(Entry), static_cast<int>(rank), entry_tag);
  }
  attendance.set_answers(arrived);
  for (std::size_t rank = 1; rank < size; ++rank) {
    watch.until_ready(
        [&] {
          // Later ranks may come first; the witness must know.
          for (std::size_t other = rank; other < size; ++other) {
            if (!(*arrived)[other].load(std::memory_order_relaxed) && requests[other].test()) {
              (*arrived)[other].store(true, std::memory_order_release);
            }
          }
          return (*arrived)[rank].load(std::memory_order_relaxed);
        },
        static_cast<int>(rank));
  }
  attendance.set_answers(nullptr);
  std::vector<Entry> result = std::move(*entries);
  delete entries;
  return result;
}

std::string deadline_text(std::int64_t milliseconds) {
  return milliseconds < 0 ? "none" : fmt::format("{} ms", milliseconds);
}

}  // namespace

std::vector<std::string> Roster::names_by_rank() const {
  std::vector<std::string> names;
  names.reserve(host_of_rank.size());
  for (int host : host_of_rank) names.push_back(host_names[static_cast<std::size_t>(host)]);
  return names;
}

Entry own_entry() {
  Entry entry;
  entry.pid = sys::own_pid();
  entry.start_time = sys::own_start_time();
  entry.version = BERTH_VERSION;
  sys::HostIdentity const host = sys::host_identity();
  copy_text(entry.host, host.name);
  copy_text(entry.boot_id, host.boot_id);
  return entry;
}

Roster call(mpi::Comm const& comm, Entry const& own, Attendance& attendance, ledger::Watch& watch) {
  Roster roster;
  if (comm.rank() == 0) {
    roster.entries = collect(comm, own, attendance, watch);
  } else {
    mpi::send_value(comm, own, 0, entry_tag, watch);
    roster.entries.resize(static_cast<std::size_t>(comm.size()));
  }
  comm.broadcast(roster.entries.data(), roster.entries.size() * sizeof(Entry), 0, watch);

  std::map<std::pair<std::string, std::string>, int> hosts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    Entry const& entry = roster.entries[static_cast<std::size_t>(rank)];
    auto const [at, is_new] =
        hosts.try_emplace({entry.host, entry.boot_id}, static_cast<int>(roster.host_names.size()));
    if (is_new) roster.host_names.emplace_back(entry.host);
    roster.host_of_rank.push_back(at->second);
  }
  int const here = roster.host_of_rank[static_cast<std::size_t>(comm.rank())];
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (roster.host_of_rank[static_cast<std::size_t>(rank)] != here) continue;
    if (rank == comm.rank()) roster.local.self = static_cast<int>(roster.local.ranks.size());
    roster.local.ranks.push_back(rank);
  }
  return roster;
}

void check_same(Roster const& roster) {
  Entry const& first = roster.entries.front();
  for (std::size_t rank = 1; rank < roster.entries.size(); ++rank) {
    Entry const& entry = roster.entries[rank];
    auto const compare = [&](char const* what, std::string const& mine, std::string const& theirs) {
      if (mine == theirs) return;
      base::fail(Errc::mismatch,
                 fmt::format("{} is {} on rank {}@{} and {} on rank 0@{}; it must be the same on "
                             "all ranks",
                             what, mine, rank, entry.host, theirs, first.host),
                 static_cast<int>(rank));
    };
    auto const word = [](auto value) { return std::string(base::name(value)); };
    compare("Berth's version", std::to_string(entry.version), std::to_string(first.version));
    compare("the backend", word(static_cast<Backend>(entry.backend)),
            word(static_cast<Backend>(first.backend)));
    compare("bind", entry.bind != 0 ? "on" : "off", first.bind != 0 ? "on" : "off");
    compare("binding", word(static_cast<Binding>(entry.binding)),
            word(static_cast<Binding>(first.binding)));
    compare("smt", entry.smt != 0 ? "on" : "off", first.smt != 0 ? "on" : "off");
    compare("fill", entry.fill != 0 ? "on" : "off", first.fill != 0 ? "on" : "off");
    compare("on_lost", word(static_cast<OnLost>(entry.on_lost)),
            word(static_cast<OnLost>(first.on_lost)));
    compare("init_deadline", deadline_text(entry.init_deadline_ms),
            deadline_text(first.init_deadline_ms));
    compare("op_deadline", deadline_text(entry.op_deadline_ms),
            deadline_text(first.op_deadline_ms));
    compare("BERTH_SHARED_MEMORY", entry.shared_memory, first.shared_memory);
  }
}

void check_hosts(Roster const& roster, int rank, mpi::Comm::Locals const& seen_by_mpi) {
  int const ours = static_cast<int>(roster.local.ranks.size());
  bool const same = ours == seen_by_mpi.size && roster.local.self == seen_by_mpi.rank &&
                    roster.local.ranks.front() == seen_by_mpi.lowest;
  if (same) return;
  Entry const& entry = roster.entries[static_cast<std::size_t>(rank)];
  base::fail(Errc::mismatch,
             fmt::format("MPI sees {} ranks on host {} (this is number {}), host name and boot id "
                         "say {} (number {}); do two hosts have one name, or one host two?",
                         seen_by_mpi.size, entry.host, seen_by_mpi.rank, ours, roster.local.self),
             rank);
}

}  // namespace berth::roster
