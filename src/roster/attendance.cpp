// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <roster/attendance.hpp>

namespace berth::roster {

namespace {

constexpr char const* sign_of_coming = "berth-start";
constexpr char const* sign_of_speech = "berth-spoke";
constexpr auto speech_limit = std::chrono::milliseconds(500);
/// Who has reported stays until the others have seen its sign, lest they take its end for the
/// reason; on a crowded machine that takes a while.
constexpr auto linger_limit = std::chrono::milliseconds(1500);
constexpr auto speech_look = std::chrono::milliseconds(5);

bool knows(int pid) {
  return !sys::ProcFacts().state(pid, 0).alive || sys::shows_sign(pid, sign_of_speech);
}

}  // namespace

Attendance::Attendance(launcher::Step step, std::string host)
    : step_(std::move(step)), host_(std::move(host)), come_(sign_of_coming) {}

void Attendance::set_members(std::vector<int> world_ranks) {
  std::lock_guard const lock(mutex_);
  members_ = std::move(world_ranks);
  siblings_.reset();
}

void Attendance::set_answers(std::shared_ptr<Answers const> answers) {
  std::lock_guard const lock(mutex_);
  answers_ = std::move(answers);
}

int Attendance::rank_of(int world_rank) const {
  if (members_.empty()) return world_rank;
  auto const at = std::find(members_.begin(), members_.end(), world_rank);
  return at == members_.end() ? -1 : static_cast<int>(at - members_.begin());
}

void Attendance::find_siblings() {
  siblings_.emplace();
  sys::ProcFacts const facts;
  std::vector<int> const pids = launcher::sibling_pids(step_);
  for (std::size_t world_rank = 0; world_rank < pids.size(); ++world_rank) {
    int const pid = pids[world_rank];
    int const rank = rank_of(static_cast<int>(world_rank));
    if (pid <= 0 || pid == sys::own_pid() || rank < 0) continue;
    sys::ProcessState const state = facts.state(pid, 0);
    Sibling sibling;
    sibling.rank = rank;
    sibling.pid = pid;
    sibling.start_time = state.start_time;
    sibling.handle = sys::ProcessHandle(pid, state.start_time);
    siblings_->push_back(std::move(sibling));
  }
}

std::vector<ledger::Blame> Attendance::look_at_siblings(bool expired) {
  sys::ProcFacts const facts;
  std::vector<ledger::Blame> dead;
  std::vector<ledger::Blame> stopped;
  std::vector<ledger::Blame> missing;
  for (Sibling& sibling : *siblings_) {
    sys::ProcessState const state = facts.state(sibling.pid, sibling.start_time);
    auto const blame = [&](std::vector<ledger::Blame>& list, char const* kind, std::string what) {
      sibling.is_blamed = true;
      list.push_back({sibling.rank, kind, fmt::format("pid {}, {}", sibling.pid, what), host_});
    };
    sibling.is_blamed = false;
    char const* const place = "in phase roll-call, before its first operation";
    if (sibling.handle.ended() || !state.alive) {
      blame(dead, "dead", fmt::format("process gone, {}", place));
    } else if (!expired) {
      continue;
    } else if (state.state == 'T' || state.state == 't') {
      blame(stopped, "stopped", fmt::format("process stopped (state {}), {}", state.state, place));
    } else if (!sys::shows_sign(sibling.pid, sign_of_coming)) {
      blame(missing, "missing",
            fmt::format("alive (state {}), has not come to the roll call", state.state));
    }
  }
  // The heaviest kind alone: the others may only be waiting for these.
  if (!dead.empty()) return dead;
  return !stopped.empty() ? stopped : missing;
}

std::vector<ledger::Blame> Attendance::look_at_answers() const {
  std::vector<ledger::Blame> blames;
  if (!answers_) return blames;
  for (std::size_t rank = 0; rank < answers_->size(); ++rank) {
    if ((*answers_)[rank].load(std::memory_order_acquire)) continue;
    blames.push_back({static_cast<int>(rank), "missing", "did not answer the roll call", {}});
  }
  return blames;
}

std::vector<ledger::Blame> Attendance::look(bool expired) {
  std::lock_guard const lock(mutex_);
  if (!siblings_) find_siblings();
  for (Sibling const& sibling : *siblings_) {
    // It has found out already what this rank would find when its own time is over.
    expired = expired || sys::shows_sign(sibling.pid, sign_of_speech);
  }
  std::vector<ledger::Blame> blames = look_at_siblings(expired);
  return blames.empty() && expired ? look_at_answers() : blames;
}

Attendance::Sibling const* Attendance::speaker() const {
  // The lowest process number: the same one for all, whatever their communicator is.
  Sibling const* lowest = nullptr;
  if (!siblings_) return nullptr;
  for (Sibling const& sibling : *siblings_) {
    if (sibling.is_blamed || sibling.pid > sys::own_pid()) continue;
    if (!sys::shows_sign(sibling.pid, sign_of_coming)) continue;
    if (lowest == nullptr || sibling.pid < lowest->pid) lowest = &sibling;
  }
  return lowest;
}

bool Attendance::is_speaker() {
  std::lock_guard const lock(mutex_);
  return speaker() == nullptr;
}

bool Attendance::wait_for_speaker() {
  int pid = 0;
  {
    std::lock_guard const lock(mutex_);
    Sibling const* const lowest = speaker();
    if (lowest != nullptr) pid = lowest->pid;
  }
  bool known = pid == 0 || knows(pid);
  for (auto waited = speech_look; !known && waited < speech_limit; waited += speech_look) {
    std::this_thread::sleep_for(speech_look);
    known = knows(pid);
  }
  spoken_ = sys::Sign(sign_of_speech);
  return known;
}

void Attendance::spoken() {
  spoken_ = sys::Sign(sign_of_speech);
  std::vector<int> others;
  {
    std::lock_guard const lock(mutex_);
    if (!siblings_) return;
    for (Sibling const& sibling : *siblings_) {
      if (!sibling.is_blamed) others.push_back(sibling.pid);
    }
  }
  for (auto waited = speech_look; waited < linger_limit; waited += speech_look) {
    if (std::all_of(others.begin(), others.end(), knows)) return;
    std::this_thread::sleep_for(speech_look);
  }
}

}  // namespace berth::roster
