// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <comm/state.hpp>
#include <model/plan.hpp>
#include <mpi/value.hpp>
#include <place/place.hpp>
#include <sys/affinity.hpp>
#include <topo/topo.hpp>

// The steps "plan" and "bind": the first rank of a host reads the node and plans for all of them;
// every rank applies its own part.

namespace berth {

namespace {

constexpr int affinity_tag = 121;
constexpr int placement_tag = 122;
constexpr char const* vendor_nvidia = "10de";

/// What the first rank tells each rank of its host.
struct LocalPlan {
  std::vector<std::string> placements;  ///< encoded, by local rank
  std::string allowed;                  ///< PUs of the host that may be used
};

LocalPlan plan_host(std::vector<model::LocalRank> const& ranks, Backend wanted,
                    std::string const& host) {
  model::Node node = topo::read_live();
  node.host = host;
  auto const is_nvidia = [](model::Device const& d) { return d.vendor == vendor_nvidia; };
  auto const nvidia = std::count_if(node.devices.begin(), node.devices.end(), is_nvidia);
  if (wanted == Backend::automatic && nvidia > 0) {
    base::fail(Errc::no_driver,
               fmt::format("{} NVIDIA GPUs on the PCI bus of {} and no nccl backend in this build; "
                           "ask for the processors alone with BERTH_BACKEND=cpu",
                           nvidia, host));
  }
  model::Policy policy;
  policy.use_devices = wanted == Backend::automatic && !node.devices.empty();
  model::NodePlan const plan = place::plan_node(node, ranks, policy);
  LocalPlan result;
  for (Placement const& placement : plan.placements) {
    result.placements.push_back(place::encode(placement));
  }
  result.allowed = sys::format_cpulist(node.allowed);
  return result;
}

/// Only the first communicator of a process binds it.
bool is_first_to_bind() {
  static std::atomic<bool> bound{false};
  return !bound.exchange(true);
}

/// The first rank: collects where the launcher put everybody, plans, answers everybody. A failure
/// is kept until all have their answer, because they wait for it.
LocalPlan plan_as_first(mpi::Comm const& mpi, ledger::LocalGroup const& group,
                        std::string const& own, Backend wanted, std::string const& host,
                        base::Patience& patience) {
  std::vector<std::string> affinities{own};
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    affinities.push_back(
        mpi::receive_value<mpi::ShortText>(mpi, group.ranks[i], affinity_tag, patience).text());
  }
  LocalPlan planned;
  std::exception_ptr failure;
  try {
    std::vector<model::LocalRank> ranks;
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      model::LocalRank local;
      local.rank = group.ranks[i];
      local.affinity = sys::parse_cpulist(affinities[i]);
      ranks.push_back(std::move(local));
    }
    planned = plan_host(ranks, wanted, host);
  } catch (...) {
    failure = std::current_exception();
  }
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    std::string const answer =
        failure ? std::string() : planned.allowed + "\n" + planned.placements[i];
    mpi::send_value(mpi, mpi::ShortText(answer), group.ranks[i], placement_tag, patience);
  }
  if (failure) std::rethrow_exception(failure);
  return planned;
}

}  // namespace

std::string Communicator::Impl::State::plan() {
  auto const& group = roster.local;
  std::string const own = sys::format_cpulist(sys::get_affinity());
  std::string answer;
  if (group.self == 0) {
    LocalPlan const planned =
        plan_as_first(mpi, group, own, settings.backend, host_of(mpi.rank()), *watch);
    answer = planned.allowed + "\n" + planned.placements[0];
  } else {
    mpi::send_value(mpi, mpi::ShortText(own), group.ranks[0], affinity_tag, *watch);
    answer = mpi::receive_value<mpi::ShortText>(mpi, group.ranks[0], placement_tag, *watch).text();
  }
  std::size_t const cut = answer.find('\n');
  if (cut == std::string::npos) return {};  // the first rank has the reason, which is agreed next
  allowed = sys::parse_cpulist(answer.substr(0, cut));
  placement = place::decode(answer.substr(cut + 1));
  placement.host = roster.host_of_rank[static_cast<std::size_t>(mpi.rank())];
  placement.local_rank = group.self;
  placement.local_size = static_cast<int>(group.ranks.size());
  return placement.flags.empty() ? "no compromise" : base::join(placement.flags, " ");
}

std::string Communicator::Impl::State::bind() {
  if (!settings.bind) return "left alone (bind is off)";
  if (placement.cpus.empty()) return "nothing to bind";
  if (!is_first_to_bind()) return "left alone (not the first communicator)";
  model::PuSet const wanted = sys::parse_cpulist(placement.cpus);
  sys::set_affinity(wanted);
  if (!placement.memory_nodes.empty()) sys::prefer_memory(placement.memory_nodes);
  return fmt::format("{} of {} as planned", mpi.size(), mpi.size());
}

}  // namespace berth
