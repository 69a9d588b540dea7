// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nccl/backend.hpp>

#include <base/env.hpp>
#include <base/error.hpp>
#include <comm/state.hpp>
#include <cpu/mismatch.hpp>
#include <sys/sysfs.hpp>

// What the steps "plan", "bind" and "connect" do where there are devices: which ones this process
// sees, which one is its own, which backend all ranks use, and NCCL's communicator.

namespace berth {

namespace {

/// How many of the last operations are compared in a long wait.
constexpr std::uint64_t compared_operations = 16;

/// What a rank has to offer, in the order in which it is judged.
enum class Offer : std::uint8_t { nothing = 0, device = 1, unusable = 2 };

nccl::Wishes wishes(base::Environment const& environment) {
  nccl::Wishes wishes;
  wishes.host_id = environment.raw("NCCL_HOSTID").value_or("");
  wishes.comm_id = environment.raw("NCCL_COMM_ID").value_or("");
  wishes.has_interface = environment.raw("NCCL_SOCKET_IFNAME").has_value();
  wishes.allow_comm_id = environment.allow_nccl_comm_id();
  return wishes;
}

}  // namespace

void Communicator::Impl::State::look_for_devices() {
  bool const is_asked = settings.backend == Backend::nccl;
  // Without a driver there is nothing to see, and CUDA need not be opened to know it.
  bool const may_have = settings.backend == Backend::automatic && sys::exists("/dev/nvidiactl");
  if (!is_asked && !may_have) return;
  base::Environment const environment = base::Environment::process();
  try {
    runtime = gpu::open(
        gpu::cuda_search(environment.cudart_lib(), environment.list({"CUDA_HOME", "CUDA_PATH"})));
    devices = runtime->devices();
  } catch (Error const& error) {
    // Told when all ranks have their place: the first one of the host waits for this rank.
    runtime.reset();
    device_code = error.code();
    device_text = error.what();
  }
}

void Communicator::Impl::State::choose_device() {
  if (!runtime) return;
  if (devices.empty()) devices = runtime->devices();
  int part = 0;
  for (gpu::Device const& one : devices) {
    if (one.bus_id == placement.device && part++ == placement.partition) device = one;
  }
  std::optional<int> const chosen = runtime->chosen_device();
  if (chosen && *chosen != device.ordinal) {
    device = devices.at(static_cast<std::size_t>(*chosen));
    placement.device = device.bus_id;
    placement.flags.emplace_back("kept-user-device");
    return;
  }
  if (device.ordinal >= 0) runtime->set_device(device.ordinal);
}

void Communicator::Impl::State::decide_backend() {
  kind = settings.backend;
  if (kind == Backend::cpu || kind == Backend::mpi) return;
  Offer mine = Offer::nothing;
  if (device.ordinal >= 0) {
    mine = Offer::device;
  } else if (host_gpus > 0) {
    mine = Offer::unusable;
  }
  std::vector<Offer> all(static_cast<std::size_t>(mpi.size()));
  mpi.all_gather(&mine, sizeof mine, all.data(), *watch);
  auto const everybody_has = [&](Offer offer) {
    return std::all_of(all.begin(), all.end(), [&](Offer one) { return one == offer; });
  };
  if (everybody_has(Offer::device)) {
    kind = Backend::nccl;
  } else if (kind == Backend::automatic && everybody_has(Offer::nothing)) {
    kind = Backend::cpu;
  } else if (mine != Offer::device) {
    refuse_device();  // where it has one, the others have something to say, which is agreed next
  }
}

void Communicator::Impl::State::refuse_device() const {
  constexpr char const* cure = "for the processors alone use BERTH_BACKEND=cpu";
  std::string reason = device_text;
  if (reason.empty() && gpu::header_version() == 0) reason = "no CUDA in this build";
  if (reason.empty()) reason = runtime ? "none for this rank" : "no driver (no /dev/nvidiactl)";
  if (host_gpus == 0) {
    base::fail(device_code == Errc::ok ? Errc::no_device : device_code,
               fmt::format("no device for NCCL: {}; {}", reason, cure));
  }
  base::fail(device_code == Errc::ok ? Errc::no_driver : device_code,
             fmt::format("{} NVIDIA GPU{} on {}, but {}; {}", host_gpus, host_gpus == 1 ? "" : "s",
                         host_of(mpi.rank()), reason, cure));
}

void Communicator::Impl::State::open_nccl() {
  if (kind != Backend::nccl) return;
  base::Environment const environment = base::Environment::process();
  nccl_library = nccl::open(nccl::library_search(
      environment.nccl_lib(), environment.list({"NCCL_HOME", "CUDA_HOME", "CUDA_PATH"})));
}

void Communicator::Impl::State::compare_operations() {
  for (std::uint64_t back = std::min<std::uint64_t>(last_number, compared_operations);
       back-- > 0;) {
    std::uint64_t const number = last_number - back;
    std::vector<cpu::Doing> doing;
    std::map<std::uint64_t, int> alike;
    for (int local = 0; local < ledger->local_size(); ++local) {
      auto const operation = ledger->recorded(local, number);
      if (!operation) continue;  // has not come so far, or is far ahead
      doing.push_back({sharing.ranks[static_cast<std::size_t>(local)], operation});
      ++alike[model::call_hash(*operation)];
    }
    if (alike.size() < 2) continue;
    auto const hash = [](cpu::Doing const& who) { return model::call_hash(*who.operation); };
    auto const stray = std::min_element(
        doing.begin(), doing.end(),
        [&](auto const& a, auto const& b) { return alike[hash(a)] < alike[hash(b)]; });
    auto const other = std::find_if(doing.begin(), doing.end(), [&](cpu::Doing const& who) {
      return hash(who) != hash(*stray);
    });
    ledger::Verdict const verdict = cpu::mismatch(number, *stray, *other);
    tell_other_hosts(verdict.code, verdict.text);
    watch->raise(verdict);
  }
}

std::string Communicator::Impl::State::connect_device() {
  base::Environment const environment = base::Environment::process();
  nccl::Setup setup;
  setup.nccl = nccl_library;
  setup.runtime = runtime;
  setup.device = device;
  setup.mpi = &mpi;
  setup.watch = watch.get();
  setup.log = &log;
  setup.host_names = roster.host_names;
  setup.host_of_rank = roster.host_of_rank;
  setup.wishes = wishes(environment);
  setup.set_variable = base::set_variable;
  setup.compare = [this] { compare_operations(); };
  setup.report = [this](Errc code, std::string const& text) { tell_all(code, text); };
  on_device = nccl::DeviceBackend::connect(std::move(setup));
  staged = nccl::staged(*on_device, *runtime, mpi.rank(), mpi.size());
  if (seams.wrap_backend) staged = seams.wrap_backend(std::move(staged));
  return fmt::format("NCCL {}", nccl::version_text(nccl::versions_of(*nccl_library).version));
}

}  // namespace berth
