// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <berth/types.hpp>

namespace berth::model {

/// Which collective an operation is.
enum class Collective : std::uint8_t {
  none = 0,
  all_reduce = 1,
  broadcast = 2,
  barrier = 3,
  reduce = 4,
  all_gather = 5,      ///< `count` elements of each rank
  reduce_scatter = 6,  ///< `count` elements for each rank
  all_to_all = 7,      ///< `count` elements for each pair of ranks
  send_recv = 8        ///< a group of sends and receives; the count is this rank's own
};

/// Its word in texts, on the command line and in JSON.
constexpr std::string_view name(Collective collective) noexcept {
  switch (collective) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::broadcast:
      return "broadcast";
    case Collective::barrier:
      return "barrier";
    case Collective::reduce:
      return "reduce";
    case Collective::all_gather:
      return "all_gather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::send_recv:
      return "send_recv";
    case Collective::none:
      break;
  }
  return "none";
}

/// It combines elements: the operation counts.
constexpr bool reduces(Collective collective) noexcept {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}
/// One rank of it is the root.
constexpr bool has_root(Collective collective) noexcept {
  return collective == Collective::reduce || collective == Collective::broadcast;
}
/// A rank puts in `count` elements for every rank, not `count` alone.
constexpr bool has_in_parts(Collective collective) noexcept {
  return collective == Collective::reduce_scatter || collective == Collective::all_to_all;
}
/// A rank gets `count` elements of every rank, not `count` alone.
constexpr bool has_out_parts(Collective collective) noexcept {
  return collective == Collective::all_gather || collective == Collective::all_to_all;
}

/// What one operation is; equal on every rank in a right program. 32 bytes, plain data, lies in
/// shared memory.
struct Descriptor {
  std::uint64_t number = 0;  ///< counts the communicator's operations from 1
  std::uint64_t count = 0;   ///< elements
  Collective collective = Collective::none;
  Type type = Type::int32;
  Op op = Op::sum;
  Backend backend = Backend::automatic;
  std::int32_t root = -1;  ///< -1: the collective has none
  /// How the call was made: 0 for a plain one, 1 for one that was started ahead of its wait, else a
  /// hash of the counts of a fused group.
  std::uint64_t form = 0;
};
static_assert(sizeof(Descriptor) == 32);

/// splitmix64's finaliser: every bit of the argument moves every bit of the result.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A hash of everything but the number, so that the same call made again costs half.
constexpr std::uint64_t call_hash(Descriptor const& d) noexcept {
  std::uint64_t const kind =
      static_cast<std::uint64_t>(d.collective) | static_cast<std::uint64_t>(d.type) << 8 |
      static_cast<std::uint64_t>(d.op) << 16 | static_cast<std::uint64_t>(d.backend) << 24 |
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(d.root)) << 32;
  return mix(d.count ^ mix(kind ^ mix(d.form)));
}

/// 32 bits that differ, with probability 1 - 2^-32, when two descriptors differ.
constexpr std::uint32_t fingerprint(Descriptor const& d) noexcept {
  return static_cast<std::uint32_t>(mix(d.number ^ call_hash(d)));
}

}  // namespace berth::model
