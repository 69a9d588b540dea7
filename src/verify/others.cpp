// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <base/names.hpp>
#include <pattern/collective.hpp>
#include <verify/others.hpp>

namespace berth::verification {
namespace {

using model::Collective;

/// Odd, so that parts are not aligned, and large enough for every way of carrying small data.
constexpr std::size_t elements = 257;
/// A failed case is made so often in all, to tell what recurs from what does not.
constexpr int repetitions = 3;

std::vector<pattern::Coded> cases_of(Collective collective, int ranks) {
  std::vector<pattern::Coded> cases;
  for (int type = 0; type < type_count; ++type) {
    for (int op = 0; op < (model::reduces(collective) ? op_count : 1); ++op) {
      int const root = static_cast<int>(cases.size()) % ranks;
      cases.push_back(
          {collective, {static_cast<Type>(type), static_cast<Op>(op), ranks, 0}, elements, root});
    }
  }
  return cases;
}

/// Whose contribution element `index` of `receiver`'s result is; absent: everybody's.
std::optional<int> source(pattern::Coded const& what, int receiver, std::size_t index) {
  switch (what.collective) {
    case Collective::broadcast:
      return what.root;
    case Collective::all_gather:
    case Collective::all_to_all:
      return static_cast<int>(index / what.count);
    case Collective::send_recv:
      return (receiver + what.code.ranks - 1) % what.code.ranks;
    default:
      return std::nullopt;
  }
}

std::string describe(pattern::Coded const& what) {
  std::string text =
      fmt::format("{}, {}", model::name(what.collective), base::name(what.code.type));
  if (model::reduces(what.collective)) text += fmt::format(", {}", base::name(what.code.op));
  return text;
}

/// The buffers of the largest case, and one case after the other on them.
class Others {
 public:
  explicit Others(Runner& runner) : runner_(runner), impl_(runner.impl()) {
    std::size_t const most = elements * sizeof(double) * static_cast<std::size_t>(impl_.size());
    Errc code = Errc::ok;
    try {
      input_.resize(most);
      output_.resize(most);
    } catch (std::bad_alloc const&) {
      code = Errc::out_of_memory;
    }
    impl_.agree(code, code == Errc::ok ? "" : "verify: no memory for the buffers");
  }

  /// What all ranks saw, by rank, of the first of the cases that anybody saw wrong.
  std::vector<Finding> check(std::vector<pattern::Coded> const& cases) {
    Observation worst;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Observation seen = run(cases[i]);
      seen.index = static_cast<std::uint32_t>(i);
      if (worst.wrong == 0 && seen.wrong > 0) worst = seen;
    }
    std::vector<Observation> all = runner_.gather(worst);
    std::optional<std::uint32_t> failed;
    for (Observation const& seen : all)
      if (seen.wrong > 0 && (!failed || seen.index < *failed)) failed = seen.index;
    if (!failed) return {};
    for (Observation& seen : all)
      if (seen.index != *failed) seen = {};
    return {blame(cases[*failed], all)};
  }

 private:
  Observation run(pattern::Coded what) {
    what.code.round = runner_.fresh();
    bool const is_broadcast = what.collective == Collective::broadcast;
    std::byte* const in = is_broadcast ? output_.data() : input_.data();
    pattern::fill_input(what, impl_.rank(), in);
    impl_.run(impl_.backend(), {what.collective, in, output_.data(), what.count, what.code.type,
                                what.code.op, model::has_root(what.collective) ? what.root : -1});
    pattern::Check const check = pattern::check_output(what, impl_.rank(), output_.data());
    return {check.wrong, check.first_wrong, 0, 0, 0};
  }

  Finding blame(pattern::Coded const& what, std::vector<Observation> const& first) {
    int seen = 1;
    for (int i = 1; i < repetitions; ++i) {
      std::vector<Observation> const again = runner_.gather(run(what));
      bool const recurs =
          std::any_of(again.begin(), again.end(), [](auto const& one) { return one.wrong > 0; });
      seen += recurs ? 1 : 0;
    }
    std::set<int> observers;
    std::set<int> sources;
    std::size_t element = 0;
    for (std::size_t rank = 0; rank < first.size(); ++rank) {
      if (first[rank].wrong == 0) continue;
      if (observers.empty()) element = first[rank].first;
      observers.insert(static_cast<int>(rank));
      sources.insert(source(what, static_cast<int>(rank), first[rank].first).value_or(-1));
    }
    Finding finding;
    finding.kind = "wrong-data";
    finding.rank = sources.size() == 1 ? *sources.begin() : -1;
    bool const is_known = finding.rank >= 0;
    if (is_known) {
      int const host = impl_.host_of_rank().at(static_cast<std::size_t>(finding.rank));
      finding.host = impl_.host_names().at(static_cast<std::size_t>(host));
    }
    if (is_known && observers.size() == 1 && *observers.begin() != finding.rank)
      finding.peer = *observers.begin();
    finding.detail = fmt::format(
        "{}: {}changed data from element {} on, in {} of {} rounds, seen by {} of {} ranks",
        describe(what), is_known ? "delivers " : "not identifiable: ", element, seen, repetitions,
        observers.size(), first.size());
    return finding;
  }

  Runner& runner_;
  Communicator::Impl& impl_;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
};

}  // namespace

std::vector<Finding> check_others(Runner& runner, int& made) {
  std::vector<Finding> findings;
  Others others(runner);
  for (Collective const collective :
       {Collective::all_reduce, Collective::reduce, Collective::broadcast, Collective::all_gather,
        Collective::reduce_scatter, Collective::all_to_all, Collective::send_recv}) {
    auto const cases = cases_of(collective, runner.impl().size());
    for (Finding const& finding : others.check(cases)) findings.push_back(finding);
    made += static_cast<int>(cases.size());
  }
  return findings;
}

}  // namespace berth::verification
