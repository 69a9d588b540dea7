// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <base/clock.hpp>
#include <cpu/context.hpp>

namespace berth::cpu {
namespace {

/// How long a host waits for the first one's word.
constexpr auto answer_limit = std::chrono::seconds(1);

}  // namespace

void Context::raise(ledger::Verdict const& verdict) const {
  if (host != 0 && lane != nullptr) {
    Error const error(verdict.code, verdict.rank, verdict.text);
    lane->tell(topology.rank(0, 0), error);
    if (local != 0 && local < topology.lanes()) lane->tell(topology.rank(0, local), error);
    base::SteadyClock const clock;
    base::nanoseconds const limit = clock.now() + answer_limit;
    watch->until_ready([&] { return clock.now() >= limit; }, topology.rank(0, 0));
  }
  watch->raise(verdict);
}

}  // namespace berth::cpu
