// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <base/error.hpp>
#include <base/patience.hpp>
#include <mpi/comm.hpp>

/// Plain values and short texts from one rank to another, bounded.
namespace berth::mpi {

/// Blocking until delivered. The copy that MPI reads lives on the heap and is leaked when the wait
/// ends with an error. @throws Error mpi, lost, timeout
template <class Value>
void send_value(Comm const& comm, Value const& value, int to, int tag, base::Patience& patience) {
  static_assert(std::is_trivially_copyable_v<Value>);
  auto* const held = new Value(value);
  Request request = comm.send(held, sizeof(Value), to, tag);
  patience.until([&] { return request.test(); }, to);
  delete held;
}

/// Blocking until arrived. @throws Error mpi, lost, timeout
template <class Value>
Value receive_value(Comm const& comm, int from, int tag, base::Patience& patience) {
  static_assert(std::is_trivially_copyable_v<Value>);
  auto* const held = new Value{};
  Request request = comm.receive(held, sizeof(Value), from, tag);
  patience.until([&] { return request.test(); }, from);
  Value const value = *held;
  delete held;
  return value;
}

/// Sends a text of any length up to `longest_text`: its length, then its bytes. Blocking until
/// delivered. @throws Error mpi, lost, timeout, internal (too long)
void send_text(Comm const& comm, std::string const& text, int to, int tag,
               base::Patience& patience);
/// Blocking until arrived. @throws Error mpi, lost, timeout
std::string receive_text(Comm const& comm, int from, int tag, base::Patience& patience);
/// Every rank's text at `root`, by rank; empty elsewhere. Collective, bounded. @throws as above
std::vector<std::string> gather_texts(Comm const& comm, std::string const& own, int root, int tag,
                                      base::Patience& patience);

inline constexpr std::size_t longest_text = std::size_t{64} << 20U;

}  // namespace berth::mpi
