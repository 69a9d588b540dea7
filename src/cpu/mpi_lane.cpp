// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <cpu/mpi_lane.hpp>

namespace berth::cpu {

Lane::Ticket MpiLane::send(int to, void const* data, std::size_t bytes) {
  return keep(comm_.send(data, bytes, to, tag_));
}

Lane::Ticket MpiLane::receive(int from, void* data, std::size_t bytes) {
  return keep(comm_.receive(data, bytes, from, tag_));
}

bool MpiLane::test(Ticket ticket) {
  Slot& slot = slots_[static_cast<std::size_t>(ticket)];
  if (!slot.request.test()) return false;
  slot.is_used = false;
  return true;
}

void MpiLane::tell(int to, Error const& error) noexcept {
  mpi::Comm::Note const note(error.code(), error.rank(), error.what());
  comm_.send_note(note, to);
}

Lane::Ticket MpiLane::keep(mpi::Request request) {
  // A handful of transfers at most are under way, so a search is cheaper than a list.
  std::size_t free = 0;
  while (free < slots_.size() && slots_[free].is_used) ++free;
  if (free == slots_.size()) slots_.emplace_back();
  slots_[free].request = std::move(request);
  slots_[free].is_used = true;
  return static_cast<Ticket>(free);
}

}  // namespace berth::cpu
