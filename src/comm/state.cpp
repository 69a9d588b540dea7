// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <new>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <comm/state.hpp>
#include <sys/host.hpp>

namespace berth {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

base::Level level_of(std::string const& word) {
  if (word == "error") return base::Level::error;
  if (word == "info") return base::Level::info;
  if (word == "debug") return base::Level::debug;
  return base::Level::warn;
}

/// What the other ranks are given beyond rank 0's deadline in the roll call, so that the one who
/// knows who is missing speaks first.
constexpr auto roll_call_margin = std::chrono::seconds(1);
/// Without a deadline of the user's an operation is never given up, but its late rank is reported.
constexpr auto report_after = std::chrono::seconds(60);

}  // namespace

Communicator::Impl::State::State(Options const& options, comm::Seams given)
    : seams(std::move(given)) {
  base::Environment const environment = base::Environment::process();
  settings = comm::resolve(options, environment);
  launched = launcher::read(environment);
}

std::string Communicator::Impl::State::host_of(int rank) const {
  if (rank < 0 || roster.host_names.empty()) return {};
  int const host = roster.host_of_rank[static_cast<std::size_t>(rank)];
  return roster.host_names[static_cast<std::size_t>(host)];
}

void Communicator::Impl::State::agree(Errc code, std::string const& text,
                                      std::string const& where) {
  mpi::Agreed const agreed = mpi.agree(code, text, *watch);
  if (agreed.code == Errc::ok) return;
  std::string const host = host_of(agreed.rank);
  throw Error(agreed.code, agreed.rank,
              fmt::format("rank {}{}{}: {} ({})", agreed.rank, host.empty() ? "" : "@", host,
                          agreed.text, where));
}

void Communicator::Impl::State::step(ledger::Phase phase,
                                     std::function<std::string()> const& body) {
  auto const start = std::chrono::steady_clock::now();
  if (ledger) ledger->set_phase(phase);
  Errc code = Errc::ok;
  std::string text;
  std::string note;
  try {
    note = body();
  } catch (Error const& error) {
    // A verdict is known to all ranks already and nobody would answer an agreement.
    if (watch->has_verdict()) throw;
    code = error.code();
    text = error.what();
  } catch (std::bad_alloc const&) {
    code = Errc::out_of_memory;
    text = "no memory left";
  } catch (std::exception const& error) {
    code = Errc::internal;
    text = error.what();
  }
  agree(code, text, ledger::phase_name(phase));
  phases.push_back({ledger::phase_name(phase), seconds_since(start), note});
}

void Communicator::Impl::State::start(MPI_Comm parent) {
  roll_call(parent);
  step(ledger::Phase::plan, [this] { return plan(); });
  step(ledger::Phase::bind, [this] { return bind(); });
  step(ledger::Phase::connect, [this] { return connect(); });
  if (seams.first_data) step(ledger::Phase::data, [this] { return first_data(); });
  watch->set_limits(
      {settings.op_deadline.value_or(report_after), settings.op_deadline.has_value()});
  ledger->set_phase(ledger::Phase::running);
  watch->stand_down();
  open = true;
}

void Communicator::Impl::State::roll_call(MPI_Comm parent) {
  auto const start = std::chrono::steady_clock::now();
  session = std::make_unique<mpi::Session>();
  ledger::WatchSetup setup;
  setup.on_lost = settings.on_lost;
  setup.clock = &clock;
  setup.facts = &facts;
  setup.log = &log;
  setup.limits = {settings.init_deadline + roll_call_margin, true};
  setup.progress = [this] {
    auto const note = mpi.progress();
    if (note && ledger) {
      ledger->pronounce({static_cast<Errc>(note->code), note->rank, "aborted", note->text});
    }
  };
  setup.probe = seams.probe;
  setup.before_end = seams.before_end;
  watch = std::make_unique<ledger::Watch>(std::move(setup));
  mpi = mpi::Comm::duplicate(parent, *watch);
  watch->set_rank(mpi.rank());
  if (mpi.rank() == 0) watch->set_limits({settings.init_deadline, true});

  roster::Entry own = roster::own_entry();
  own.backend = static_cast<std::uint8_t>(settings.backend);
  own.bind = settings.bind ? 1 : 0;
  own.on_lost = static_cast<std::uint8_t>(settings.on_lost);
  own.init_deadline_ms = settings.init_deadline.count();
  own.op_deadline_ms = settings.op_deadline ? settings.op_deadline->count() : -1;
  settings.shared_memory.copy(own.shared_memory, sizeof own.shared_memory - 1);
  if (settings.code == Errc::ok && sys::read_small_file("/proc/self/stat").empty()) {
    settings.code = Errc::system;
    settings.text = "cannot open a file in /proc; is the limit of descriptors (ulimit -n) reached?";
  }
  roster = roster::call(mpi, own, launched, *watch);
  watch->set_hosts(roster.names_by_rank());
  watch->set_limits({settings.init_deadline, true});

  step(ledger::Phase::roll_call, [this]() -> std::string {
    if (settings.code != Errc::ok) base::fail(settings.code, settings.text);
    log =
        base::Log(level_of(settings.log_level), settings.log_file, host_of(mpi.rank()), mpi.rank());
    return {};
  });
  // Every rank has the same roster, so every rank finds the same difference.
  roster::check_same(roster);
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
  // One phase for people: the roll call as a whole.
  phases.assign(1, {ledger::phase_name(ledger::Phase::roll_call), seconds_since(start),
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

void Communicator::Impl::State::tell_other_hosts(Errc code, std::string const& text) const {
  mpi::Comm::Note note;
  note.code = static_cast<int>(code);
  note.rank = mpi.rank();
  text.copy(note.text, sizeof note.text - 1);
  std::set<int> told{sharing_of_rank[static_cast<std::size_t>(mpi.rank())]};
  for (int rank = 0; rank < mpi.size(); ++rank) {
    if (told.insert(sharing_of_rank[static_cast<std::size_t>(rank)]).second) {
      mpi.send_note(note, rank);
    }
  }
}

model::Descriptor Communicator::Impl::State::begin(coll::Backend const& on,
                                                   model::Collective collective, std::size_t count,
                                                   Type type, Op op, int root) {
  model::Descriptor operation;
  operation.number = ++last_number;
  operation.count = count;
  operation.collective = collective;
  operation.type = type;
  operation.op = op;
  operation.backend = &on == reference.get() ? Backend::mpi : kind;
  operation.root = root;
  ledger->enter(operation);
  return operation;
}

}  // namespace berth
