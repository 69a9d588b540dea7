// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <base/names.hpp>
#include <base/units.hpp>
#include <verify/attribute.hpp>
#include <verify/text.hpp>

namespace berth::verification {
namespace {

/// How often something is repeated before it counts as not recurring.
constexpr int repetitions = 3;

using Observers = std::set<int>;

Observers observers(Try const& attempt) {
  Observers ranks;
  for (std::size_t rank = 0; rank < attempt.seen.size(); ++rank)
    if (attempt.seen[rank].wrong > 0) ranks.insert(static_cast<int>(rank));
  return ranks;
}

/// What the lowest rank that saw something wrong saw.
Observation const& first_observation(Try const& attempt) {
  return *std::find_if(attempt.seen.begin(), attempt.seen.end(),
                       [](Observation const& seen) { return seen.wrong > 0; });
}

/// The contributions that explain the first wrong element by one flipped bit.
std::vector<Culprit> culprits(Runner const& runner, Try const& attempt) {
  Observation const& seen = first_observation(attempt);
  return explain(attempt.round.what.type, attempt.round.what.op,
                 runner.words(attempt.round, seen.first), seen.observed);
}

/// The one rank that all culprits are of, with its bit; absent when there are several or none.
std::optional<Culprit> only_one(std::vector<Culprit> const& list) {
  if (list.empty()) return std::nullopt;
  for (Culprit const& culprit : list)
    if (culprit.rank != list.front().rank) return std::nullopt;
  return list.front();
}

std::string host_of(Runner const& runner, int rank) {
  Communicator::Impl const& impl = runner.impl();
  int const host = impl.host_of_rank().at(static_cast<std::size_t>(rank));
  return impl.host_names().at(static_cast<std::size_t>(host));
}

Finding wrong_data(Runner const& runner, int rank, int peer, std::string detail) {
  std::string const host = rank < 0 ? std::string() : host_of(runner, rank);
  return {"wrong-data", rank, host, peer, std::move(detail), false};
}

/// Everything that is known of one failing case, and the next experiment.
class Inquest {
 public:
  Inquest(Runner& runner, Try const& failed) : runner_(runner), failed_(failed) {}

  std::vector<Finding> hold() {
    std::vector<Finding> findings = damaged_inputs(failed_);
    for (int cycle = 0; cycle < repetitions && findings.empty(); ++cycle) {
      hear_everybody();
      findings = conclude();
    }
    if (findings.empty()) findings = repeat_case();
    return findings;
  }

 private:
  /// Ranks whose own input was changed under their hands.
  [[nodiscard]] std::vector<Finding> damaged_inputs(Try const& attempt) const {
    std::vector<Finding> findings;
    for (std::size_t rank = 0; rank < attempt.seen.size(); ++rank) {
      if (attempt.seen[rank].input_damaged == 0) continue;
      findings.push_back(wrong_data(runner_, static_cast<int>(rank), -1,
                                    fmt::format("{}: its own input changed during the operation",
                                                describe(failed_.round.what))));
    }
    return findings;
  }

  /// One round in which only `owner` is heard.
  Try const& hear(int owner) {
    Round round = failed_.round;
    round.what.op = Probe::op();
    round.what.coding = Coding::exposed;
    round.owner = owner;
    return record(round);
  }

  Try const& record(Round round) {
    round.number = runner_.fresh();
    Observation const own = runner_.all_reduce(round);
    tries_.push_back({round, runner_.gather(own)});
    return tries_.back();
  }

  void hear_everybody() {
    for (int owner = 0; owner < runner_.impl().size(); ++owner) hear(owner);
  }

  /// Who is heard wrong so far.
  [[nodiscard]] std::set<int> suspects() const {
    std::set<int> ranks;
    bool all_wrong = true;
    bool all_explained = true;
    for (Try const& attempt : tries_) {
      if (observers(attempt).empty()) {
        all_wrong = false;
        continue;
      }
      auto const culprit = only_one(culprits(runner_, attempt));
      all_explained = all_explained && culprit.has_value();
      ranks.insert(culprit ? culprit->rank : *attempt.round.owner);
    }
    // Garbage whoever is heard: nothing tells the ranks apart here.
    if (all_wrong && !all_explained && tries_.size() > 1) ranks.clear();
    return ranks;
  }

  /// Findings from the rounds so far, confirmed by further rounds; empty: nobody can be named.
  std::vector<Finding> conclude() {
    for (Try const& attempt : tries_) {
      auto findings = damaged_inputs(attempt);
      if (!findings.empty()) return findings;
    }
    std::set<int> const named = suspects();
    for (int const rank : named) {
      auto const made = std::count_if(tries_.begin(), tries_.end(), [&](Try const& attempt) {
        return attempt.round.owner == rank;
      });
      for (auto i = made; i < repetitions; ++i) hear(rank);
    }
    if (named.size() > 1) {
      auto receiver = common_receiver();
      if (receiver) return {*receiver};
    }
    std::vector<Finding> findings;
    findings.reserve(named.size());
    for (int const rank : named) findings.push_back(deliverer(rank));
    return findings;
  }

  /// The one rank that sees everything wrong, whoever is heard.
  [[nodiscard]] std::optional<Finding> common_receiver() const {
    Observers all;
    Evidence evidence = evidence_of(std::nullopt, all);
    if (all.size() != 1) return std::nullopt;
    int const rank = *all.begin();
    return wrong_data(runner_, rank, -1,
                      fmt::format("{}: {}", describe(failed_.round.what), receives(evidence)));
  }

  [[nodiscard]] Finding deliverer(int rank) const {
    Observers all;
    Evidence const evidence = evidence_of(rank, all);
    Finding finding = wrong_data(
        runner_, rank, -1, fmt::format("{}: {}", describe(failed_.round.what), delivers(evidence)));
    if (all.size() == 1 && *all.begin() != rank) finding.peer = *all.begin();
    all.erase(rank);
    bool const is_gone_without = std::any_of(tries_.begin(), tries_.end(), [&](Try const& attempt) {
      return attempt.round.owner != rank && observers(attempt).empty();
    });
    finding.drain = evidence.seen >= 2 && all.size() >= 2 && is_gone_without;
    return finding;
  }

  /// Sums up the rounds in which `owner` was heard, or all; `seen_by` gets who saw it wrong.
  Evidence evidence_of(std::optional<int> owner, Observers& seen_by) const {
    Evidence evidence;
    evidence.ranks = runner_.impl().size();
    evidence.is_bit = true;
    for (Try const& attempt : tries_) {
      if (owner && attempt.round.owner != owner) continue;
      ++evidence.tries;
      Observers const ranks = observers(attempt);
      if (ranks.empty()) continue;
      seen_by.insert(ranks.begin(), ranks.end());
      auto const culprit = only_one(culprits(runner_, attempt));
      int const bit = culprit ? culprit->bit : -1;
      if (evidence.seen == 0) {
        evidence.element = first_observation(attempt).first;
        evidence.bit = bit;
      }
      evidence.is_bit = evidence.is_bit && bit >= 0 && bit == evidence.bit;
      ++evidence.seen;
    }
    evidence.observers = static_cast<int>(seen_by.size());
    return evidence;
  }

  /// The failing collective as it was; for what shows only with its operation or its data.
  std::vector<Finding> repeat_case() {
    std::vector<Try> wrong;
    int const before = static_cast<int>(tries_.size());
    for (int i = 0; i < repetitions; ++i) {
      Try const& attempt = record(failed_.round);
      auto findings = damaged_inputs(attempt);
      if (!findings.empty()) return findings;
      if (!observers(attempt).empty()) wrong.push_back(attempt);
    }
    bool const did_recur =
        !wrong.empty() || std::any_of(tries_.begin(), tries_.begin() + before,
                                      [](Try const& t) { return !observers(t).empty(); });
    std::string const what = describe(failed_.round.what);
    if (!did_recur) {
      return {wrong_data(runner_, -1, -1,
                         fmt::format("{}: not identifiable: it did not recur in {} tries", what,
                                     before + repetitions))};
    }
    auto named = explained_by_all(wrong);
    if (named) return {*named};
    auto findings = attribute_broadcast(runner_, failed_.round.what.type, failed_.round.what.bytes);
    if (!findings.empty() && findings.front().rank >= 0) return findings;
    return {
        wrong_data(runner_, -1, -1,
                   fmt::format("{}: not identifiable: wrong again in {} of {} rounds, but no one "
                               "contribution explains it",
                               what, wrong.size(), repetitions))};
  }

  /// The one rank whose contribution, with one flipped bit, explains every wrong round.
  [[nodiscard]] std::optional<Finding> explained_by_all(std::vector<Try> const& wrong) const {
    if (wrong.empty()) return std::nullopt;
    std::set<std::pair<int, int>> common;
    Evidence evidence;
    Observers seen_by;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      std::set<std::pair<int, int>> now;
      for (Culprit const& culprit : culprits(runner_, wrong[i]))
        if (i == 0 || common.count({culprit.rank, culprit.bit}) > 0)
          now.insert({culprit.rank, culprit.bit});
      common = std::move(now);
      Observers const ranks = observers(wrong[i]);
      seen_by.insert(ranks.begin(), ranks.end());
    }
    if (common.size() != 1) return std::nullopt;
    evidence = {true,
                common.begin()->second,
                first_observation(wrong.front()).first,
                static_cast<int>(wrong.size()),
                repetitions,
                static_cast<int>(seen_by.size()),
                runner_.impl().size()};
    return wrong_data(runner_, common.begin()->first, -1,
                      fmt::format("{}: {}", describe(failed_.round.what), delivers(evidence)));
  }

  Runner& runner_;
  Try const& failed_;
  std::vector<Try> tries_;
};

/// What the broadcasts of one root showed.
struct RootSeen {
  Observers observers;
  int rounds = 0;
  std::size_t element = 0;
};

Finding broadcast_finding(Runner const& runner, int rank, int peer, std::string_view verb,
                          std::string const& what, RootSeen const& seen) {
  Finding finding =
      wrong_data(runner, rank, peer,
                 fmt::format("{}: {} from element {} on, in {} of {} rounds", what, verb,
                             base::format_count(seen.element), seen.rounds, repetitions));
  Observers partners = seen.observers;
  partners.erase(rank);
  finding.drain = peer < 0 && seen.rounds >= 2 && partners.size() >= 2;
  return finding;
}

}  // namespace

std::vector<Finding> attribute(Runner& runner, Try const& failed) {
  return Inquest(runner, failed).hold();
}

std::vector<Finding> attribute_broadcast(Runner& runner, Type type, std::size_t bytes) {
  int const ranks = runner.impl().size();
  std::vector<RootSeen> roots(static_cast<std::size_t>(ranks));
  for (int i = 0; i < repetitions; ++i) {
    for (int root = 0; root < ranks; ++root) {
      Try const attempt{{}, runner.gather(runner.broadcast(type, bytes, root))};
      Observers const now = observers(attempt);
      if (now.empty()) continue;
      RootSeen& seen = roots[static_cast<std::size_t>(root)];
      if (seen.rounds++ == 0) seen.element = first_observation(attempt).first;
      seen.observers.insert(now.begin(), now.end());
    }
  }
  std::string const what =
      fmt::format("broadcast, {}, {}", base::name(type), base::format_bytes(bytes));
  std::vector<int> wrong;
  Observers all;
  for (int root = 0; root < ranks; ++root) {
    RootSeen const& seen = roots[static_cast<std::size_t>(root)];
    if (seen.rounds == 0) continue;
    wrong.push_back(root);
    all.insert(seen.observers.begin(), seen.observers.end());
  }
  if (wrong.empty()) {
    return {wrong_data(runner, -1, -1,
                       fmt::format("{}: not identifiable: it did not recur in {} tries", what,
                                   repetitions * ranks))};
  }
  if (all.size() == 1 && wrong.size() > 1) {
    RootSeen const& seen = roots[static_cast<std::size_t>(wrong.front())];
    return {broadcast_finding(runner, *all.begin(), -1, "receives changed data", what, seen)};
  }
  std::vector<Finding> findings;
  for (int const root : wrong) {
    RootSeen const& seen = roots[static_cast<std::size_t>(root)];
    int const peer = seen.observers.size() == 1 && ranks > 2 ? *seen.observers.begin() : -1;
    findings.push_back(broadcast_finding(runner, root, peer, "delivers changed data", what, seen));
  }
  return findings;
}

}  // namespace berth::verification
