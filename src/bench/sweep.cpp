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

}  // namespace

model::Sweep sweep(Communicator::Impl& impl, Plan const& plan,
                   std::function<void(Progress const&)> const& progress) {
  refuse_bad(plan);
  PhaseGuard const phase(impl);
  model::Sweep result;
  result.version = BERTH_VERSION_TEXT;
  result.ranks = impl.size();
  result.hosts = static_cast<int>(impl.host_names().size());
  result.checked = plan.check;
  result.iterations = plan.iterations.value_or(default_iterations);
  result.checked = plan.check;

  base::SteadyClock const clock;
  base::nanoseconds const start = clock.now();
  int const total = static_cast<int>(plan.types.size() * plan.ops.size() * plan.sizes.size());
  double const share = std::clamp(sweep_seconds / total, shortest_share, longest_share);
  int done = 0;
  for (Type const type : plan.types) {
    for (Op const op : plan.ops) {
      for (std::size_t const bytes : plan.sizes) {
        double const elapsed = static_cast<double>((clock.now() - start).count()) / 1e9;
        double const each = done > 0 ? std::max(elapsed / done, share) : share;
        if (progress) progress({done, total, bytes, each * (total - done)});
        Case measured(impl, plan, bytes / size_of(type), type, op, share);
        result.results.push_back(measured.measure());
        ++done;
      }
    }
  }
  return result;
}

}  // namespace berth::bench
