// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cpu/mismatch.hpp>
#include <ledger/verdict.hpp>

namespace berth::cpu {
namespace {

std::string doing(Doing const& who) {
  if (!who.operation) return fmt::format("rank {} is in another operation", who.rank);
  return fmt::format("rank {} calls {}", who.rank, ledger::describe(*who.operation));
}

}  // namespace

ledger::Verdict mismatch(std::uint64_t number, Doing const& stray, Doing const& other) {
  return {Errc::mismatch, stray.rank, "mismatch",
          fmt::format("operation {}: {}, but {}; every rank must make the same calls in the same "
                      "order",
                      number, doing(stray), doing(other))};
}

}  // namespace berth::cpu
