// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <vector>

#include <base/clock.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/copy_line.hpp>
#include <cpu/mismatch.hpp>

namespace berth::cpu {
namespace {

/// What a rank that has found a mismatch gives the others to arrive, so that the verdict can tell
/// the one that strays from the many that do not; on a crowded machine they need their turn first.
constexpr base::nanoseconds time_for_the_others = std::chrono::seconds(1);

/// One rank's flag as far as it has come.
struct Vote {
  int local = 0;
  std::uint32_t fingerprint = 0;
};

std::size_t votes_for(std::vector<Vote> const& votes, std::uint32_t fingerprint) {
  return static_cast<std::size_t>(std::count_if(votes.begin(), votes.end(), [&](Vote const& vote) {
    return vote.fingerprint == fingerprint;
  }));
}

/// The first rank of the smallest party; of equal parties the one that came later in rank order.
Vote strayed(std::vector<Vote> const& votes) {
  Vote found = votes.front();
  for (Vote const& vote : votes) {
    bool const same = vote.fingerprint == found.fingerprint;
    bool const is_founder = found.local == votes.front().local;
    std::size_t const here = votes_for(votes, vote.fingerprint);
    std::size_t const best = votes_for(votes, found.fingerprint);
    if (!same && (here < best || (here == best && is_founder))) found = vote;
  }
  return found;
}

}  // namespace

void Arrivals::post(void const* payload, std::size_t bytes) {
  copy_line(own_line()->payload, static_cast<std::byte const*>(payload), bytes);
  post();
}

void Arrivals::check(std::uint64_t seen) const {
  if (static_cast<std::uint32_t>(seen >> 32) != sequence_) return;
  report();
}

void Arrivals::report() const {
  std::vector<Vote> votes;
  base::SteadyClock const clock;
  base::nanoseconds const start = clock.now();
  do {
    votes.clear();
    for (int local = 0; local < context_.local_size; ++local) {
      std::uint64_t const flag =
          context_.segment.line(local, parity())->flag.load(std::memory_order_acquire);
      if (local == context_.local) {
        votes.push_back({local, fingerprint()});
      } else if (static_cast<std::uint32_t>(flag >> 32) == sequence_) {
        votes.push_back({local, static_cast<std::uint32_t>(flag)});
      }
    }
    if (votes.size() == static_cast<std::size_t>(context_.local_size)) break;
    ledger::Watch::give_way();
  } while (clock.now() - start < time_for_the_others);
  Vote const stray = strayed(votes);
  Vote const other = *std::find_if(votes.begin(), votes.end(), [&](Vote const& vote) {
    return vote.fingerprint != stray.fingerprint;
  });
  auto const operation_of = [&](int local) -> std::optional<model::Descriptor> {
    if (local == context_.local) return operation_;
    if (context_.ledger == nullptr) return std::nullopt;
    return context_.ledger->recorded(local, operation_.number);
  };
  context_.raise(mismatch(operation_.number,
                          {context_.rank_of(stray.local), operation_of(stray.local)},
                          {context_.rank_of(other.local), operation_of(other.local)}));
}

}  // namespace berth::cpu
