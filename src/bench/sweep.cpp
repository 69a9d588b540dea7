// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <base/error.hpp>
#include <bench/case.hpp>
#include <bench/sweep.hpp>
#include <berth/version.hpp>

namespace berth::bench {
namespace {

/// Tells the watchdogs that this is a benchmark, until it ends, however it ends. They stay awake:
/// a wait inside MPI must not pay for waking them.
class PhaseGuard {
 public:
  explicit PhaseGuard(Communicator::Impl& impl) : impl_(impl), awake_(impl.watch()) {
    impl_.set_phase(ledger::Phase::bench);
  }
  ~PhaseGuard() { impl_.set_phase(ledger::Phase::running); }
  PhaseGuard(PhaseGuard const&) = delete;
  PhaseGuard& operator=(PhaseGuard const&) = delete;

 private:
  Communicator::Impl& impl_;
  ledger::Watch::Awake awake_;
};

/// What all cases together should take, unless the largest sizes need longer for their few rounds.
constexpr double sweep_seconds = 15;
constexpr double shortest_share = 0.1;
constexpr double longest_share = 1.5;
constexpr int default_iterations = 20;

void refuse_bad(Plan const& plan) {
  if (plan.sizes.empty()) base::fail(Errc::invalid_argument, "bench: no size to measure");
  if (plan.types.empty()) base::fail(Errc::invalid_argument, "bench: no type to measure");
  if (plan.ops.empty()) base::fail(Errc::invalid_argument, "bench: no operation to measure");
  if (plan.iterations.value_or(1) < 1)
    base::fail(Errc::invalid_argument, "bench: at least 1 iteration");
}

/// Everything that is to be measured, in the order of the table.
std::vector<pattern::Coded> cases_of(Plan const& plan, int ranks) {
  static std::vector<Op> const no_op = {Op::sum};
  std::vector<pattern::Coded> cases;
  for (model::Collective const collective : plan.collectives) {
    for (Type const type : plan.types) {
      for (Op const op : model::reduces(collective) ? plan.ops : no_op) {
        for (std::size_t const bytes : plan.sizes) {
          pattern::Coded what{collective, {type, op, ranks, 0}, 1, 0};
          what.count = bytes / (size_of(type) * std::max(in_elements(what), out_elements(what)));
          if (what.count > 0) cases.push_back(what);
        }
      }
    }
  }
  return cases;
}

}  // namespace

model::Sweep sweep(Communicator::Impl& impl, Plan const& plan,
                   std::function<void(Progress const&)> const& progress) {
  refuse_bad(plan);
  if ((plan.graph > 0 || plan.is_registered) && impl.on_device() == nullptr) {
    base::fail(Errc::invalid_argument, "-G and -R need the nccl backend");
  }
  PhaseGuard const phase(impl);
  model::Sweep result;
  result.version = BERTH_VERSION_TEXT;
  result.ranks = impl.size();
  result.hosts = static_cast<int>(impl.host_names().size());
  result.checked = plan.check;
  result.iterations = plan.iterations.value_or(default_iterations);
  result.graph = plan.graph;
  result.is_registered = plan.is_registered;

  base::SteadyClock const clock;
  base::nanoseconds const start = clock.now();
  std::vector<pattern::Coded> const cases = cases_of(plan, impl.size());
  int const total = static_cast<int>(cases.size());
  double const share = std::clamp(sweep_seconds / total, shortest_share, longest_share);
  int done = 0;
  for (pattern::Coded const& what : cases) {
    double const elapsed = static_cast<double>((clock.now() - start).count()) / 1e9;
    double const each = done > 0 ? std::max(elapsed / done, share) : share;
    if (progress) progress({done, total, bytes_of(what), each * (total - done)});
    Case measured(impl, plan, what, share);
    result.results.push_back(measured.measure());
    ++done;
  }
  return result;
}

}  // namespace berth::bench
