// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <base/error.hpp>
#include <mpi/value.hpp>

namespace berth::mpi {

void send_text(Comm const& comm, std::string const& text, int to, int tag,
               base::Patience& patience) {
  if (text.size() > longest_text) base::fail(Errc::internal, "a text above 64 MiB between ranks");
  send_value(comm, static_cast<std::uint64_t>(text.size()), to, tag, patience);
  if (text.empty()) return;
  // Leaked when the wait ends with an error, as MPI may still read it.
  auto* const held = new std::string(text);
  Request request = comm.send(held->data(), held->size(), to, tag);
  patience.until([&] { return request.test(); }, to);
  delete held;
}

std::string receive_text(Comm const& comm, int from, int tag, base::Patience& patience) {
  auto const size = receive_value<std::uint64_t>(comm, from, tag, patience);
  if (size == 0) return {};
  if (size > longest_text) base::fail(Errc::internal, "a text above 64 MiB between ranks");
  auto* const held = new std::string(static_cast<std::size_t>(size), '\0');
  Request request = comm.receive(held->data(), held->size(), from, tag);
  patience.until([&] { return request.test(); }, from);
  std::string text = std::move(*held);
  delete held;
  return text;
}

std::vector<std::string> gather_texts(Comm const& comm, std::string const& own, int root, int tag,
                                      base::Patience& patience) {
  if (comm.rank() != root) {
    send_text(comm, own, root, tag, patience);
    return {};
  }
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    texts.push_back(rank == root ? own : receive_text(comm, rank, tag, patience));
  }
  return texts;
}

}  // namespace berth::mpi
