// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Life of a communicator: init, jobs, end.
#include "communicator.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "log.hpp"
#include "ras.hpp"

namespace standin {
namespace {

std::atomic<int> communicators_made = 0;

std::mutex living_mutex;

std::vector<std::weak_ptr<Communicator>>& registry() {
  static auto* const the = new std::vector<std::weak_ptr<Communicator>>;
  return *the;
}

}  // namespace

std::vector<std::shared_ptr<Communicator>> living() {
  std::vector<std::shared_ptr<Communicator>> result;
  std::lock_guard const lock(living_mutex);
  auto& all = registry();
  all.erase(std::remove_if(all.begin(), all.end(), [](auto const& each) { return each.expired(); }),
            all.end());
  for (auto const& each : all) {
    if (auto communicator = each.lock()) result.push_back(std::move(communicator));
  }
  return result;
}

Communicator::Communicator(int rank, int ranks, int device, bool blocking)
    : rank_(rank),
      ranks_(ranks),
      device_(device),
      blocking_(blocking),
      number_(++communicators_made),
      faults_(rank, number_) {}

Communicator::~Communicator() = default;

void Communicator::set_error(ncclResult_t error) {
  state_ = error;
  if (status_.page() != nullptr) status_.page()->async_error = error;
}

ncclResult_t Communicator::ready() const {
  ncclResult_t const now = state();
  if (now == ncclSuccess) return now;
  warn("Attempt to use communicator before the previous operation returned ncclSuccess");
  return now == ncclInProgress ? ncclInvalidArgument : now;
}

void Communicator::start_job(std::function<void()> work) {
  join_job();
  {
    std::lock_guard const lock(mutex_);
    job_runs_ = true;
  }
  state_ = ncclInProgress;
  std::lock_guard const lock(join_mutex_);
  job_ = std::thread([self = shared_from_this(), work = std::move(work)] {
    log_device(self->device_);
    cudaSetDevice(self->device_);
    try {
      work();
      int expected = ncclInProgress;
      self->state_.compare_exchange_strong(expected, ncclSuccess);
    } catch (Failure const& failure) {
      self->set_error(failure.result);
    } catch (Stopped const&) {
      self->set_error(ncclInternalError);
    }
    std::lock_guard const done(self->mutex_);
    self->job_runs_ = false;
    self->changed_.notify_all();
  });
}

ncclResult_t Communicator::wait_for_job() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !job_runs_; });
  return state();
}

void Communicator::join_job() {
  std::lock_guard const lock(join_mutex_);
  if (job_.joinable()) job_.join();
}

void Communicator::init(std::vector<Id> const& ids) {
  ids_ = ids;
  misbehave_before_check_in(stop_);
  open_up();
  if (rank_ == 0) start_named_root();
  Ring ring = join_ring(ids, rank_, ranks_, door_, stop_);
  misbehave_after_check_in();
  adopt(std::move(ring), ids.front().magic, "ncclCommInitRank", stop_);
}

void Communicator::open_up() {
  status_.create();
  door_.open();
}

void Communicator::misbehave_before_check_in(Signal const& stop) const {
  if (Fault const* const late = faults_.find("late_init_ms")) stop.sleep_ms(late->value);
  if (faults_.find("init_stuck") != nullptr) stop.park();
  if (Fault const* const error = faults_.find("init_error")) {
    stop.sleep_ms(error->at);
    auto const result = static_cast<ncclResult_t>(error->value);
    fail(result,
         "init failed as STANDIN_NCCL_FAULTS wants: " + std::string(ncclGetErrorString(result)));
  }
}

void Communicator::misbehave_after_check_in() const {
  if (faults_.find("stop_init") != nullptr) std::raise(SIGSTOP);
  if (faults_.find("die_init") != nullptr) _exit(1);
}

void Communicator::adopt(Ring ring, std::uint64_t magic, char const* how, Signal const& stop) {
  ring_ = std::move(ring);
  magic_ = magic;
  peers_ = std::vector<Peer>(static_cast<std::size_t>(ranks_));
  Peer& me = peers_[static_cast<std::size_t>(rank_)];
  me.host = host_hash();
  me.device = device_;
  me.pid = getpid();
  me.status = status_.descriptor();
  me.listener = door_.address();
  std::strncpy(me.host_name, host_name().c_str(), sizeof me.host_name - 1);
  cudaError_t const error = cudaDeviceGetPCIBusId(me.bus_id, sizeof me.bus_id, device_);
  if (error != cudaSuccess) fail(ncclUnhandledCudaError, cudaGetErrorString(error));
  std::string const names =
      text("%s comm %p rank %d nranks %d cudaDev %d nvmlDev %d busId %s commId 0x%llx - Init ", how,
           static_cast<void*>(this), rank_, ranks_, device_, device_, me.bus_id,
           hash(std::to_string(magic)));
  info("Using network Socket");
  info(names + "START");
  ring_.all_gather(peers_.data(), sizeof(Peer), stop);
  check_devices();
  links_.open(rank_, magic_, peers_);
  say_shape();
  info(names + "COMPLETE");
  status_.page()->init_state = ncclSuccess;
  if (Fault const* const error_now = faults_.find("async", 0)) {
    set_error(static_cast<ncclResult_t>(error_now->value));
  }
  ras_enter();
  in_ras_ = true;
  std::lock_guard const lock(living_mutex);
  registry().push_back(weak_from_this());
}

void Communicator::check_devices() const {
  for (std::size_t left = 0; left < peers_.size(); ++left) {
    for (std::size_t right = left + 1; right < peers_.size(); ++right) {
      bool const same = peers_[left].host == peers_[right].host &&
                        std::strcmp(peers_[left].bus_id, peers_[right].bus_id) == 0;
      if (same) {
        fail(ncclInvalidUsage, text("Duplicate GPU detected : rank %zu and rank %zu both on CUDA "
                                    "device %s",
                                    left, right, peers_[left].bus_id));
      }
    }
  }
}

void Communicator::say_shape() const {
  std::vector<std::uint64_t> hosts;
  int local_rank = 0;
  int local_ranks = 0;
  std::uint64_t const mine = peers_[static_cast<std::size_t>(rank_)].host;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    std::uint64_t const host = peers_[rank].host;
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
    if (host != mine) continue;
    ++local_ranks;
    if (static_cast<int>(rank) < rank_) ++local_rank;
  }
  info(text("comm %p rank %d nRanks %d nNodes %zu localRanks %d localRank %d MNNVL 0",
            static_cast<void const*>(this), rank_, ranks_, hosts.size(), local_ranks, local_rank));
}

void Communicator::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pending_ == 0; });
}

void Communicator::quiesce() {
  interrupt_.raise();
  flush();
}

void Communicator::mark_finalized() {
  finalized_ = true;
  status_.page()->finalized = 1;
}

void Communicator::destroy() {
  if (status_.page() != nullptr) status_.page()->destroyed = 1;
  join_job();
  flush();
  release("Destroy");
}

void Communicator::abort() {
  if (faults_.find("abort_hangs") != nullptr) {
    while (true) pause();
  }
  if (Fault const* const slow = faults_.find("abort_ms")) {
    usleep(static_cast<useconds_t>(slow->value * 1000));
  }
  stop_.raise();
  interrupt_.raise();
  join_job();
  if (status_.page() != nullptr) status_.page()->aborted = 1;
  if (faults_.find("leak_root") == nullptr) {
    for (Id const& id : ids_) end_root(id.magic);
  }
  release("Abort");
}

void Communicator::release(char const* how) {
  if (std::exchange(in_ras_, false)) ras_leave();
  std::lock_guard const lock(running_);
  interrupt_.raise();
  links_.close();
  ring_.close();
  door_.close();
  status_.close();
  if (order_ != nullptr) cudaEventDestroy(std::exchange(order_, nullptr));
  info(text("comm %p rank %d nranks %d cudaDev %d - %s COMPLETE", static_cast<void*>(this), rank_,
            ranks_, device_, how));
}

}  // namespace standin
