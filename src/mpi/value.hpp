// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <type_traits>

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

/// A text of at most 16383 bytes as a plain value.
struct ShortText {
  std::array<char, 16384> bytes;
  explicit ShortText(std::string const& text = {}) : bytes{} {
    if (text.size() >= bytes.size()) {
      base::fail(Errc::internal, "a text of 16 KiB or more between ranks");
    }
    std::memcpy(bytes.data(), text.data(), text.size());
  }
  [[nodiscard]] std::string text() const { return bytes.data(); }
};

}  // namespace berth::mpi
