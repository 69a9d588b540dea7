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
  if (!requests_[static_cast<std::size_t>(ticket)].test()) return false;
  free_.push_back(ticket);
  return true;
}

void MpiLane::tell(int to, Error const& error) noexcept {
  mpi::Comm::Note const note(error.code(), error.rank(), error.what());
  comm_.send_note(note, to);
}

Lane::Ticket MpiLane::keep(mpi::Request request) {
  if (free_.empty()) {
    requests_.push_back(std::move(request));
    return static_cast<Ticket>(requests_.size()) - 1;
  }
  Ticket const ticket = free_.back();
  free_.pop_back();
  requests_[static_cast<std::size_t>(ticket)] = std::move(request);
  return ticket;
}

}  // namespace berth::cpu
