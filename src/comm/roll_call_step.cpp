// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <comm/state.hpp>
#include <sys/host.hpp>

// The step "roll call": MPI, who is here, and the ledger that the ranks of a host share.

namespace berth {

namespace {

base::Level level_of(std::string const& word) {
  if (word == "error") return base::Level::error;
  if (word == "info") return base::Level::info;
  if (word == "debug") return base::Level::debug;
  return base::Level::warn;
}

/// What the other ranks are given beyond rank 0's deadline in the roll call, so that the one who
/// knows who is missing speaks first.
constexpr auto roll_call_margin = std::chrono::seconds(1);

/// Errors that every rank finds by itself are reported by rank 0.
template <class Check>
void check_alike(bool reports, Check&& check) {
  try {
    check();
  } catch (Error const& error) {
    throw Error(error.code(), error.rank(), error.what(), !reports);
  }
}

}  // namespace

void Communicator::Impl::State::make_watch() {
  attendance = std::make_unique<roster::Attendance>(launched, sys::host_identity().name);
  ledger::WatchSetup setup;
  setup.rank = launched.rank.value_or(-1);
  setup.on_lost = settings.on_lost;
  setup.clock = &clock;
  setup.facts = &facts;
  setup.log = &log;
  setup.limits = {settings.init_deadline, true};
  setup.witness = attendance.get();
  setup.progress = [this] {
    auto const note = mpi.progress();
    if (!note) return;
    was_told = true;
    watch->pronounce({static_cast<Errc>(note->code), note->rank, note->kind, note->text});
  };
  setup.probe = seams.probe;
  setup.before_end = seams.before_end;
  watch = std::make_unique<ledger::Watch>(std::move(setup));
}

void Communicator::Impl::State::open_mpi(MPI_Comm parent) {
  {
    // MPI_Init waits for every rank of the job and nothing can throw out of it.
    ledger::Watch::Blocked const blocked(*watch, -1);
    session = std::make_unique<mpi::Session>();
  }
  attendance->set_members(mpi::world_ranks(parent));
  watch->set_limits({settings.init_deadline + roll_call_margin, true});
  mpi = mpi::Comm::duplicate(parent, *watch);
  watch->set_rank(mpi.rank());
  if (mpi.rank() == 0) watch->set_limits({settings.init_deadline, true});
}

roster::Entry Communicator::Impl::State::own_entry() {
  roster::Entry own = roster::own_entry();
  own.backend = static_cast<std::uint8_t>(settings.backend);
  own.bind = settings.bind ? 1 : 0;
  own.binding = static_cast<std::uint8_t>(settings.binding);
  own.smt = settings.smt ? 1 : 0;
  own.fill = settings.fill ? 1 : 0;
  own.on_lost = static_cast<std::uint8_t>(settings.on_lost);
  own.init_deadline_ms = settings.init_deadline.count();
  own.op_deadline_ms = settings.op_deadline ? settings.op_deadline->count() : -1;
  settings.shared_memory.copy(own.shared_memory, sizeof own.shared_memory - 1);
  if (settings.code == Errc::ok && sys::read_small_file("/proc/self/stat").empty()) {
    settings.code = Errc::system;
    settings.text = "cannot open a file in /proc; is the limit of descriptors (ulimit -n) reached?";
  }
  return own;
}

void Communicator::Impl::State::call_roll() {
  try {
    roster = roster::call(mpi, own_entry(), *attendance, *watch);
  } catch (Error const& error) {
    // Rank 0 alone knows who of other hosts has not answered: it tells those that have.
    if (mpi.rank() != 0) throw Error(error.code(), error.rank(), error.what(), was_told);
    for (int rank = 1; rank < mpi.size(); ++rank) {
      if (rank != error.rank()) mpi.send_note({error.code(), error.rank(), error.what()}, rank);
    }
    throw;
  }
}

void Communicator::Impl::State::roll_call(MPI_Comm parent) {
  auto const start = std::chrono::steady_clock::now();
  make_watch();
  open_mpi(parent);
  call_roll();
  watch->set_hosts(roster.names_by_rank());
  watch->set_limits({settings.init_deadline, true});

  step(ledger::Phase::roll_call, [this]() -> std::string {
    if (settings.code != Errc::ok) base::fail(settings.code, settings.text);
    launcher::check_size(launched, mpi::world_size());
    log =
        base::Log(level_of(settings.log_level), settings.log_file, host_of(mpi.rank()), mpi.rank());
    return {};
  });
  check_alike(mpi.rank() == 0, [this] { roster::check_same(roster); });
  // MPI's own view of the hosts must agree. Blocking: MPI 3.1 has no other form.
  mpi::Comm::Locals const seen_by_mpi = [&] {
    ledger::Watch::Blocked const blocked(*watch, -1);
    return mpi.split_by_host();
  }();
  step(ledger::Phase::roll_call, [&, this]() -> std::string {
    roster::check_hosts(roster, mpi.rank(), seen_by_mpi);
    return {};
  });
  share_ledger();
  attendance.reset();  // the ledger knows more from now on
  // One phase for people: the roll call as a whole.
  phases.assign(1, {ledger::phase_name(ledger::Phase::roll_call),
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                    fmt::format("{} of {} present", mpi.size(), mpi.size())});
}

void Communicator::Impl::State::share_ledger() {
  std::size_t const bytes = ledger::Ledger::bytes(static_cast<int>(roster.local.ranks.size()));
  step(ledger::Phase::roll_call, [&, this]() -> std::string {
    ledger_memory = ledger::share(mpi, roster.local, bytes, settings.shared_memory, *watch);
    return {};
  });
  // Hosts whose ranks cannot share memory count as one host per rank for everything that follows.
  std::vector<std::uint8_t> shares(static_cast<std::size_t>(mpi.size()));
  std::uint8_t const own = ledger_memory.shared ? 1 : 0;
  mpi.all_gather(&own, 1, shares.data(), *watch);
  sharing = own != 0 ? roster.local : ledger::LocalGroup{{mpi.rank()}, 0};
  std::vector<int> group_of_host(roster.host_names.size(), -1);
  int groups = 0;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    int& group = group_of_host[static_cast<std::size_t>(roster.host_of_rank[rank])];
    if (group < 0 || shares[rank] == 0) group = groups++;
    sharing_of_rank.push_back(group);
  }
  step(ledger::Phase::roll_call, [&, this]() -> std::string {
    ledger.emplace(ledger_memory.memory.data(), static_cast<int>(sharing.ranks.size()),
                   sharing.self);
    if (sharing.self == 0) ledger->format();
    return {};
  });
  step(ledger::Phase::roll_call, [&, this]() -> std::string {
    ledger->announce(mpi.rank(), sys::own_pid(), sys::own_start_time());
    return {};
  });
  watch->attach(*ledger);
}

}  // namespace berth
