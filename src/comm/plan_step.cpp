// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <base/env.hpp>
#include <base/error.hpp>
#include <base/text.hpp>
#include <comm/state.hpp>
#include <launcher/launcher.hpp>
#include <model/plan.hpp>
#include <mpi/value.hpp>
#include <place/place.hpp>
#include <sys/affinity.hpp>
#include <sys/threads.hpp>
#include <topo/topo.hpp>

// The steps "plan" and "bind": the first rank of a host reads the node and plans for all of them;
// every rank applies its own part.

namespace berth {

namespace {

constexpr int request_tag = 121;
constexpr int placement_tag = 122;
constexpr char const* vendor_nvidia = "10de";
constexpr char const* vendor_amd = "1002";
constexpr std::size_t longest_list = 4096;

/// What a rank tells the first one of its host: a line each.
struct Asked {
  std::string affinity;  ///< as a list
  bool binding_asked = false;
  std::string visible_cuda;  ///< "=" and CUDA_VISIBLE_DEVICES; empty: not set
  std::string visible_rocm;  ///< "=" and ROCR_VISIBLE_DEVICES; empty: not set
  std::string devices;       ///< bus ids that CUDA shows this rank, with commas; empty: not asked
};

/// "=" and the value, on one line and not longer than a list of devices can be.
std::string line_of(base::Environment const& environment, char const* variable) {
  auto const value = environment.raw(variable);
  return value ? "=" + base::printable(*value, longest_list) : std::string();
}

std::string encode(Asked const& request) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", request.affinity, request.binding_asked ? 1 : 0,
                     request.visible_cuda, request.visible_rocm, request.devices);
}

Asked decode(std::string const& text) {
  std::vector<std::string> const lines = base::split(text, '\n');
  if (lines.size() != 5) base::fail(Errc::internal, "a request for a place that cannot be read");
  return {lines[0], lines[1] == "1", lines[2], lines[3], lines[4]};
}

/// What the first rank tells each rank of its host.
struct LocalPlan {
  std::vector<std::string> placements;  ///< encoded, by local rank
  std::string allowed;                  ///< PUs of the host that may be used
  std::optional<double> launcher_cost;  ///< what the launcher's own binding costs the host
  int gpus = 0;                         ///< NVIDIA's
  model::Node node;                     ///< the machine
};

bool is_nvidia(model::Device const& device) {
  return device.vendor == vendor_nvidia;
}

/// The devices that CUDA shows a rank; several of one bus id are its parts, in CUDA's order.
std::vector<model::DeviceKey> keys_of(std::string const& devices) {
  std::vector<model::DeviceKey> keys;
  for (std::string const& bus_id : base::split(devices, ',')) {
    auto const parts = std::count_if(keys.begin(), keys.end(),
                                     [&](auto const& key) { return key.bus_id == bus_id; });
    keys.push_back({bus_id, static_cast<int>(parts)});
  }
  return keys;
}

/// A container may hide the bus: what CUDA shows is there, at an unknown place.
void add_hidden(model::Node& node, std::vector<model::DeviceKey> const& keys) {
  for (model::DeviceKey const& key : keys) {
    bool const is_known =
        std::any_of(node.devices.begin(), node.devices.end(), [&](model::Device const& device) {
          return device.bus_id == key.bus_id && device.partition == key.partition;
        });
    if (is_known) continue;
    model::Device device;
    device.bus_id = key.bus_id;
    device.partition = key.partition;
    device.vendor = vendor_nvidia;
    auto const behind = [](model::Device const& a, model::Device const& b) {
      return std::tie(a.bus_id, a.partition) < std::tie(b.bus_id, b.partition);
    };
    node.devices.insert(std::upper_bound(node.devices.begin(), node.devices.end(), device, behind),
                        device);
  }
}

/// The devices that the variable of this machine's vendor lets a rank use.
std::optional<std::vector<model::DeviceKey>> visible_to(model::Node const& node,
                                                        Asked const& request, int rank) {
  if (node.devices.empty()) return std::nullopt;
  if (!request.devices.empty()) return keys_of(request.devices);
  std::string const& vendor = node.devices.front().vendor;
  bool const is_amd = vendor == vendor_amd;
  if (!is_amd && vendor != vendor_nvidia) return std::nullopt;
  std::string const& text = is_amd ? request.visible_rocm : request.visible_cuda;
  if (text.empty()) return std::nullopt;
  try {
    return place::visible_devices(node, text.substr(1));
  } catch (Error const& error) {
    base::fail(
        error.code(),
        fmt::format("rank {}: {}{}: {}", rank,
                    is_amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", text, error.what()),
        rank);
  }
}

LocalPlan plan_host(std::vector<int> const& members, std::vector<std::string> const& requests,
                    comm::Settings const& settings, std::string const& host) {
  topo::LiveOptions options;
  options.nccl_topology = base::Environment::process().raw("NCCL_TOPO_FILE").value_or("");
  model::Node node = topo::read_live(options);
  node.host = host;
  for (std::string const& request : requests) {
    std::string const devices = decode(request).devices;
    if (!devices.empty()) add_hidden(node, keys_of(devices));
  }
  std::vector<model::LocalRank> ranks;
  for (std::size_t i = 0; i < members.size(); ++i) {
    Asked const request = decode(requests[i]);
    model::LocalRank local;
    local.rank = members[i];
    local.affinity = sys::parse_cpulist(request.affinity);
    local.binding_asked = request.binding_asked;
    local.visible = visible_to(node, request, members[i]);
    ranks.push_back(std::move(local));
  }
  model::Policy policy;
  bool const wants_devices =
      settings.backend == Backend::automatic || settings.backend == Backend::nccl;
  policy.use_devices = wants_devices && !node.devices.empty();
  policy.binding = settings.binding;
  policy.smt = settings.smt;
  policy.fill = settings.fill;
  model::NodePlan const plan = place::plan_node(node, ranks, policy);
  LocalPlan result;
  for (Placement const& placement : plan.placements) {
    result.placements.push_back(place::encode(placement));
  }
  result.allowed = sys::format_cpulist(node.allowed);
  result.launcher_cost = plan.launcher_cost;
  result.gpus =
      static_cast<int>(std::count_if(node.devices.begin(), node.devices.end(), is_nvidia));
  result.node = std::move(node);
  return result;
}

/// The answer to local rank `i`: the host's GPUs, allowed PUs and its place.
std::string answer_of(LocalPlan const& plan, std::size_t i) {
  return fmt::format("{}\n{}\n{}", plan.gpus, plan.allowed, plan.placements[i]);
}

/// Only the first communicator of a process binds it.
bool is_first_to_bind() {
  static std::atomic<bool> bound{false};
  return !bound.exchange(true);
}

/// The first rank: collects where the launcher put everybody, plans, answers everybody. A failure
/// is kept until all have their answer, because they wait for it.
LocalPlan plan_as_first(mpi::Comm const& mpi, ledger::LocalGroup const& group,
                        std::string const& own, comm::Settings const& settings,
                        std::string const& host, base::Patience& patience) {
  std::vector<std::string> requests{own};
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    requests.push_back(mpi::receive_text(mpi, group.ranks[i], request_tag, patience));
  }
  LocalPlan planned;
  std::exception_ptr failure;
  try {
    planned = plan_host(group.ranks, requests, settings, host);
  } catch (...) {
    failure = std::current_exception();
  }
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    std::string const answer = failure ? std::string() : answer_of(planned, i);
    mpi::send_text(mpi, answer, group.ranks[i], placement_tag, patience);
  }
  if (failure) std::rethrow_exception(failure);
  return planned;
}

}  // namespace

std::string Communicator::Impl::State::plan() {
  auto const& group = roster.local;
  if (seams.placement) {
    allowed = seams.allowed;
    placement = *seams.placement;
    runtime = seams.runtime;
    return "as before";
  }
  look_for_devices();
  std::vector<std::string> bus_ids;
  for (gpu::Device const& one : devices) bus_ids.push_back(one.bus_id);
  base::Environment const environment = base::Environment::process();
  std::string const own =
      encode(Asked{sys::format_cpulist(sys::get_affinity()),
                   launched.name.empty() || launcher::binding_is_asked(environment),
                   line_of(environment, "CUDA_VISIBLE_DEVICES"),
                   line_of(environment, "ROCR_VISIBLE_DEVICES"), base::join(bus_ids, ",")});
  std::string answer;
  if (group.self == 0) {
    LocalPlan planned = plan_as_first(mpi, group, own, settings, host_of(mpi.rank()), *watch);
    answer = answer_of(planned, 0);
    launcher_cost = planned.launcher_cost;
    node = std::move(planned.node);
  } else {
    mpi::send_text(mpi, own, group.ranks[0], request_tag, *watch);
    answer = mpi::receive_text(mpi, group.ranks[0], placement_tag, *watch);
  }
  if (answer.empty()) return {};  // the first rank has the reason, which is agreed next
  std::size_t const first = answer.find('\n');
  std::size_t const second = answer.find('\n', first + 1);
  host_gpus = std::stoi(answer.substr(0, first));
  allowed = sys::parse_cpulist(answer.substr(first + 1, second - first - 1));
  placement = place::decode(answer.substr(second + 1));
  placement.host = roster.host_of_rank[static_cast<std::size_t>(mpi.rank())];
  placement.local_rank = group.self;
  placement.local_size = static_cast<int>(group.ranks.size());
  return placement.flags.empty() ? "no compromise" : base::join(placement.flags, " ");
}

std::string Communicator::Impl::State::bind() {
  choose_device();
  if (!settings.bind) return "left alone (bind is off)";
  if (placement.cpus.empty()) return "nothing to bind";
  if (!is_first_to_bind()) return "left alone (not the first communicator)";
  model::PuSet const wanted = sys::parse_cpulist(placement.cpus);
  sys::set_affinity(wanted);
  if (!placement.memory_nodes.empty()) sys::prefer_memory(placement.memory_nodes);
  for (int const thread : sys::busy_threads()) {
    // Threads of the user's that already compute stay where they are, unless the user says so.
    if (settings.binding == Binding::rebind && sys::set_affinity_of(thread, wanted)) continue;
    placement.flags.emplace_back("threads-running");
    break;
  }
  return fmt::format("{} of {} as planned", mpi.size(), mpi.size());
}

}  // namespace berth
