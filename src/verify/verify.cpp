// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <base/error.hpp>
#include <berth/verify.hpp>
#include <verify/attribute.hpp>
#include <verify/cases.hpp>
#include <verify/others.hpp>
#include <verify/runner.hpp>
#include <verify/verification.hpp>

namespace berth::verification {
namespace {

/// Tells the watchdogs that this is a check, until it ends, however it ends.
class PhaseGuard {
 public:
  explicit PhaseGuard(Communicator::Impl& impl) : impl_(impl) {
    impl_.set_phase(ledger::Phase::verify);
  }
  ~PhaseGuard() { impl_.set_phase(ledger::Phase::running); }
  PhaseGuard(PhaseGuard const&) = delete;
  PhaseGuard& operator=(PhaseGuard const&) = delete;

 private:
  Communicator::Impl& impl_;
};

/// With more ranks than this only some are roots of a broadcast in one round.
constexpr int most_roots = 8;

/// The lowest case that any rank saw wrong; absent: all were right.
std::optional<std::uint32_t> lowest(std::vector<Observation> const& all) {
  std::optional<std::uint32_t> index;
  for (Observation const& seen : all)
    if (seen.wrong > 0 && (!index || seen.index < *index)) index = seen.index;
  return index;
}

/// A rank is named once, whatever else it fails.
void add(std::vector<Finding>& findings, std::vector<Finding> const& more) {
  for (Finding const& finding : more) {
    bool const is_known = std::any_of(findings.begin(), findings.end(), [&](Finding const& f) {
      return f.rank == finding.rank && f.peer == finding.peer;
    });
    if (!is_known) findings.push_back(finding);
  }
}

class Check {
 public:
  Check(Communicator::Impl& impl, VerifyOptions const& options)
      : options_(options),
        runner_(impl, *std::max_element(options.sizes.begin(), options.sizes.end())) {}

  Outcome run() {
    outcome_.sizes = static_cast<int>(options_.sizes.size());
    outcome_.types = static_cast<int>(checked_types().size());
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
        bool const all_operations = i == std::min<std::size_t>(1, options_.sizes.size() - 1);
        all_reduces(options_.sizes[i], all_operations);
        broadcasts(options_.sizes[i], round);
        runner_.barrier();
      }
      others();
    }
    return std::move(outcome_);
  }

 private:
  /// All cases of one size; the ranks compare notes once, at its end.
  void all_reduces(std::size_t bytes, bool all_operations) {
    std::vector<Case> const cases = cases_of(bytes, runner_.impl().size(), all_operations);
    std::vector<Round> rounds;
    Observation worst;
    for (Case const& what : cases) {
      rounds.push_back({what, runner_.fresh(), std::nullopt});
      Observation seen = runner_.all_reduce(rounds.back());
      seen.index = static_cast<std::uint32_t>(rounds.size() - 1);
      if (worst.wrong == 0 && seen.wrong > 0) worst = seen;
    }
    outcome_.collectives += static_cast<int>(cases.size());
    std::vector<Observation> all = runner_.gather(worst);
    auto const failed = lowest(all);
    if (!failed) return;
    // Only what belongs to that case counts as seen of it.
    for (Observation& seen : all)
      if (seen.wrong > 0 && seen.index != *failed) seen = {};
    add(outcome_.findings, attribute(runner_, {rounds[*failed], all}));
  }

  void broadcasts(std::size_t bytes, int round) {
    int const ranks = runner_.impl().size();
    int const roots = std::min(ranks, most_roots);
    Type const type = checked_types()[static_cast<std::size_t>(round) % checked_types().size()];
    Observation worst;
    for (int i = 0; i < roots; ++i) {
      int const root = (i * ranks / roots + round) % ranks;
      Observation const seen = runner_.broadcast(type, bytes, root);
      if (worst.wrong == 0 && seen.wrong > 0) worst = seen;
    }
    outcome_.collectives += roots;
    if (!lowest(runner_.gather(worst))) return;
    add(outcome_.findings, attribute_broadcast(runner_, type, bytes));
  }

  /// Of interest where nobody is named yet, and otherwise for ranks that are not.
  void others() {
    std::vector<Finding>& known = outcome_.findings;
    for (Finding const& finding : check_others(runner_, outcome_.collectives)) {
      bool const is_named = std::any_of(known.begin(), known.end(),
                                        [&](Finding const& f) { return f.rank == finding.rank; });
      if (known.empty() || (finding.rank >= 0 && !is_named)) known.push_back(finding);
    }
  }

  VerifyOptions const& options_;
  Runner runner_;
  Outcome outcome_;
};

}  // namespace

Outcome check(Communicator::Impl& impl, VerifyOptions const& options) {
  if (options.sizes.empty()) base::fail(Errc::invalid_argument, "verify: no size to check");
  if (options.rounds < 1)
    base::fail(Errc::invalid_argument,
               fmt::format("verify: {} rounds; give at least 1", options.rounds));
  PhaseGuard const phase(impl);
  return Check(impl, options).run();
}

}  // namespace berth::verification

namespace berth {

std::vector<Finding> verify(Communicator& communicator, VerifyOptions const& options) {
  return verification::check(communicator.impl(), options).findings;
}

}  // namespace berth
