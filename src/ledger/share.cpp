// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>
#include <vector>

#include <ledger/share.hpp>
#include <mpi/value.hpp>

namespace berth::ledger {

namespace {

constexpr int ticket_tag = 101;
constexpr int answer_tag = 102;
constexpr int outcome_tag = 103;

/// One way tried by the first rank: creates, sends tickets, collects answers, tells the outcome.
bool try_as_first(mpi::Comm& comm, LocalGroup const& group, std::size_t bytes, sys::SharedKind kind,
                  base::Patience& patience, Shared& shared) {
  sys::SharedTicket ticket;
  try {
    shared.memory = sys::SharedMemory::create(bytes, kind);
    ticket = shared.memory.ticket();
  } catch (std::exception const& error) {
    shared.failure = error.what();
    ticket.kind = -1;  // tells the peers that there is nothing to open
  }
  bool good = ticket.kind >= 0;
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    mpi::send_value(comm, ticket, group.ranks[i], ticket_tag, patience);
  }
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    good = mpi::receive_value<int>(comm, group.ranks[i], answer_tag, patience) != 0 && good;
  }
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    mpi::send_value(comm, good ? 1 : 0, group.ranks[i], outcome_tag, patience);
  }
  return good;
}

/// The same step of every other rank: opening is the proof that both are on one host.
bool try_as_other(mpi::Comm& comm, LocalGroup const& group, base::Patience& patience,
                  Shared& shared) {
  int const first = group.ranks.front();
  auto const ticket = mpi::receive_value<sys::SharedTicket>(comm, first, ticket_tag, patience);
  int opened = 0;
  if (ticket.kind >= 0) {
    try {
      shared.memory = sys::SharedMemory::open(ticket);
      opened = 1;
    } catch (std::exception const& error) {
      shared.failure = error.what();
      // Another user namespace, a closed /proc: the next way is tried.
      opened = 0;
    }
  }
  mpi::send_value(comm, opened, first, answer_tag, patience);
  return mpi::receive_value<int>(comm, first, outcome_tag, patience) != 0;
}

}  // namespace

Shared share(mpi::Comm& comm, LocalGroup const& group, std::size_t bytes,
             std::string const& preferred, base::Patience& patience) {
  if (group.ranks.size() == 1) {
    return {sys::SharedMemory::anonymous(bytes), "private", {}, true};
  }
  std::vector<std::pair<sys::SharedKind, char const*>> ways;
  if (preferred == "memfd") ways.emplace_back(sys::SharedKind::memfd, "memfd");
  if (preferred != "none") ways.emplace_back(sys::SharedKind::shm_open, "shm_open");
  Shared shared;
  for (auto const& [kind, name] : ways) {
    shared = {};
    bool const good = group.self == 0 ? try_as_first(comm, group, bytes, kind, patience, shared)
                                      : try_as_other(comm, group, patience, shared);
    shared.memory.forget_name();
    shared.how = name;
    if (good) return shared;
  }
  return {sys::SharedMemory::anonymous(bytes), "none", std::move(shared.failure), false};
}

}  // namespace berth::ledger
