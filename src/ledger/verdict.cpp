// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <base/names.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <ledger/verdict.hpp>

namespace berth::ledger {

namespace {

std::string describe_state(RankView const& view) {
  if (!view.alive) return "dead";
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
    default:
      return fmt::format("alive (state {})", view.state);
  }
}

std::string describe_place(RankView const& view) {
  if (view.entered == 0) {
    return fmt::format("in phase {}, before its first operation", phase_name(view.phase));
  }
  bool const inside = view.left < view.entered;
  return fmt::format("in phase {}, {} operation {}: {}", phase_name(view.phase),
                     inside ? "inside" : "after", view.entered, view.operation);
}

Blame blame(RankView const& view, char const* kind) {
  return {view.rank, kind,
          fmt::format("pid {}, {}, {}", view.pid, describe_state(view), describe_place(view))};
}

bool is_over(RankView const& view) {
  return view.phase == Phase::closed || view.phase == Phase::aborted;
}

}  // namespace

std::string describe(model::Descriptor const& operation) {
  auto const counted = [&] {
    return fmt::format("{} {}", operation.count, base::name(operation.type));
  };
  switch (operation.collective) {
    case model::Collective::all_reduce:
      return fmt::format("all_reduce of {} ({})", counted(), base::name(operation.op));
    case model::Collective::broadcast:
      return fmt::format("broadcast of {} from rank {}", counted(), operation.root);
    case model::Collective::barrier:
      return "barrier";
    case model::Collective::none:
      break;
  }
  return "none";
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
    bool const stopped = view.state == 'T' || view.state == 't';
    if (view.rank != self_rank && stopped && !is_over(view)) {
      blames.push_back(blame(view, "stopped"));
    }
  }
  if (!blames.empty()) return blames;
  // Late: everybody who neither waits with a beating heart nor is over. That may be the rank whose
  // watchdog asks: its own main thread may loop in a signal handler that interrupted the wait.
  for (RankView const& view : ranks) {
    if (is_over(view)) continue;
    bool const waits = view.wait != WaitKind::none && (view.beats || !view.beat_known);
    if (!waits) blames.push_back(blame(view, "late"));
  }
  if (!blames.empty()) return blames;
  // Everybody here waits. Whom for? A rank elsewhere that is named by somebody here is silent.
  std::vector<int> silent;
  for (RankView const& view : ranks) {
    bool const local = std::any_of(ranks.begin(), ranks.end(),
                                   [&](RankView const& r) { return r.rank == view.peer; });
    if (view.wait != WaitKind::none && view.peer >= 0 && !local) silent.push_back(view.peer);
  }
  std::sort(silent.begin(), silent.end());
  silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
  for (int rank : silent) {
    blames.push_back({rank, "silent", "no sign of life reaches this host"});
  }
  return blames;
}

Verdict compose(std::vector<Blame> const& blames, std::vector<std::string> const& hosts,
                double waited_seconds) {
  auto const where = [&](int rank) {
    auto const index = static_cast<std::size_t>(rank);
    bool const known = rank >= 0 && index < hosts.size() && !hosts[index].empty();
    return known ? fmt::format("rank {}@{}", rank, hosts[index]) : fmt::format("rank {}", rank);
  };
  if (blames.empty()) {
    return {Errc::timeout, -1, "timeout",
            fmt::format("waited {} without progress by anyone, and no rank can be named",
                        base::format_seconds(waited_seconds))};
  }
  Blame const& first = blames.front();
  std::string text = fmt::format("{}: {}", where(first.rank), first.kind);
  if (!first.detail.empty()) text += fmt::format(": {}", first.detail);
  if (first.kind == "stopped") text += "; try kill -CONT";
  if (first.kind != "dead") {
    text += fmt::format("; waited {}", base::format_seconds(waited_seconds));
  }
  if (blames.size() > 1) {
    text += "; also";
    std::size_t const shown = std::min<std::size_t>(blames.size(), 5);
    for (std::size_t i = 1; i < shown; ++i) {
      text += fmt::format(" {} ({})", where(blames[i].rank), blames[i].kind);
    }
    if (blames.size() > shown) text += fmt::format(" and {} more", blames.size() - shown);
  }
  return {Errc::lost, first.rank, first.kind, base::printable(text, 479)};
}

}  // namespace berth::ledger
