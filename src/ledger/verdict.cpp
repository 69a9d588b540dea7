// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include <base/names.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <ledger/verdict.hpp>

namespace berth::ledger {

namespace {

bool is_stopped(RankView const& view) {
  return view.state == 'T' || view.state == 't';
}

std::string describe_state(RankView const& view) {
  if (!view.alive) return "process gone";
  switch (view.state) {
    case 'T':
    case 't':
      return fmt::format("process stopped (state {})", view.state);
    case 'D':
      return "alive but in an uninterruptible sleep (state D: storage?)";
    case 'S':
      return "alive but asleep (state S)";
    case 'R':
      return "alive and running (state R)";
    case '?':
      return "state not known";
    default:
      return fmt::format("alive (state {})", view.state);
  }
}

/// A sign of life of its waiting thread is seen, or cannot be expected.
bool waits(RankView const& view) {
  return view.wait != WaitKind::none && (view.beats || !view.beat_known);
}

std::string describe_place(RankView const& view) {
  std::string place = fmt::format("in phase {}", phase_name(view.phase));
  if (view.entered == 0) {
    place += ", before its first operation";
  } else {
    place += fmt::format(", {} operation {}", view.left < view.entered ? "inside" : "after",
                         view.entered);
    if (!view.operation.empty()) place += fmt::format(": {}", view.operation);
  }
  bool const is_stuck = view.alive && view.wait != WaitKind::none && !waits(view);
  if (is_stuck && !is_stopped(view)) place += ", in a wait that does not move";
  return place;
}

Blame blame(RankView const& view, char const* kind) {
  return {view.rank,
          kind,
          fmt::format("pid {}, {}, {}", view.pid, describe_state(view), describe_place(view)),
          {}};
}

bool is_over(RankView const& view) {
  return view.phase == Phase::closed || view.phase == Phase::aborted;
}

/// How far a rank is in the program's order of operations: odd inside one, even between two.
std::uint64_t position(RankView const& view) {
  return view.left < view.entered ? 2 * view.entered - 1 : 2 * view.entered;
}

/// The position of the rank furthest behind among those that wait: who has not passed it is waited
/// for. Ranks whose heart beats are asked first. Absent when nobody waits.
std::optional<std::uint64_t> awaited_position(std::vector<RankView> const& ranks) {
  std::optional<std::uint64_t> beating;
  std::optional<std::uint64_t> any;
  for (RankView const& view : ranks) {
    if (is_over(view) || view.wait == WaitKind::none) continue;
    any = std::min(any.value_or(position(view)), position(view));
    if (waits(view)) beating = std::min(beating.value_or(position(view)), position(view));
  }
  return beating ? beating : any;
}

/// Ranks of other hosts that somebody here says it waits for.
std::vector<int> awaited_elsewhere(std::vector<RankView> const& ranks) {
  std::vector<int> found;
  for (RankView const& view : ranks) {
    bool const is_local = std::any_of(
        ranks.begin(), ranks.end(), [&](RankView const& other) { return other.rank == view.peer; });
    if (view.wait != WaitKind::none && view.peer >= 0 && !is_local) found.push_back(view.peer);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

std::string describe(model::Descriptor const& operation) {
  auto const counted = [&] {
    return fmt::format("{} {}", base::format_count(operation.count), base::name(operation.type));
  };
  std::string what(model::name(operation.collective));
  switch (operation.collective) {
    case model::Collective::all_reduce:
    case model::Collective::reduce_scatter:
      return fmt::format("{} of {} ({})", what, counted(), base::name(operation.op));
    case model::Collective::reduce:
      return fmt::format("{} of {} ({}) to rank {}", what, counted(), base::name(operation.op),
                         operation.root);
    case model::Collective::broadcast:
      return fmt::format("{} of {} from rank {}", what, counted(), operation.root);
    case model::Collective::all_gather:
    case model::Collective::all_to_all:
    case model::Collective::send_recv:
      return fmt::format("{} of {}", what, counted());
    case model::Collective::barrier:
    case model::Collective::none:
      break;
  }
  return what;
}

std::vector<Blame> judge(std::vector<RankView> const& ranks, int self_rank, bool expired) {
  std::vector<Blame> blames;
  for (RankView const& view : ranks) {
    if (view.rank != self_rank && !view.alive && !is_over(view)) {
      blames.push_back(blame(view, "dead"));
    }
  }
  if (!blames.empty() || !expired) return blames;
  for (RankView const& view : ranks) {
    if (view.rank != self_rank && is_stopped(view) && !is_over(view)) {
      blames.push_back(blame(view, "stopped"));
    }
  }
  if (!blames.empty()) return blames;
  std::optional<std::uint64_t> const awaited = awaited_position(ranks);
  for (RankView const& view : ranks) {
    if (!awaited || is_over(view) || waits(view) || position(view) > *awaited) continue;
    blames.push_back(blame(view, "late"));
  }
  if (!blames.empty()) return blames;
  for (int rank : awaited_elsewhere(ranks)) {
    blames.push_back({rank, "silent", "no sign of life reaches this host", {}});
  }
  return blames;
}

Verdict compose(std::vector<Blame> const& blames, std::vector<std::string> const& hosts,
                double waited_seconds) {
  auto const where = [&](Blame const& blame) {
    std::string host = blame.host;
    auto const index = static_cast<std::size_t>(blame.rank);
    if (host.empty() && blame.rank >= 0 && index < hosts.size()) host = hosts[index];
    return fmt::format("rank {}{}{}", blame.rank, host.empty() ? "" : "@", host);
  };
  if (blames.empty()) {
    return {Errc::timeout, -1, "timeout",
            fmt::format("waited {} without progress by anyone, and no rank can be named",
                        base::format_seconds(waited_seconds))};
  }
  Blame const& first = blames.front();
  std::string text = fmt::format("{}: {}", where(first), first.kind);
  if (!first.detail.empty()) text += fmt::format(": {}", first.detail);
  if (first.kind == "stopped") text += "; try kill -CONT";
  if (first.kind != "dead") {
    text += fmt::format("; waited {}", base::format_seconds(waited_seconds));
  }
  if (blames.size() > 1) {
    text += "; also";
    std::size_t const shown = std::min<std::size_t>(blames.size(), 5);
    for (std::size_t i = 1; i < shown; ++i) {
      text += fmt::format(" {} ({})", where(blames[i]), blames[i].kind);
    }
    if (blames.size() > shown) text += fmt::format(" and {} more", blames.size() - shown);
  }
  return {Errc::lost, first.rank, first.kind, base::printable(text, 479)};
}

}  // namespace berth::ledger
