// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::coll {

/// How the cpu backend moves the data of one operation inside a host.
enum class Design : std::uint8_t {
  automatic,  ///< by bytes and ranks
  line,       ///< flag and payload share a cache line; everybody reduces everything
  flat,       ///< copied in whole, one flag; everybody reduces everything
  ring,       ///< pipelined reduce-scatter and all-gather over bounded slots
};

/// How shared memory that a peer will read is written. Never changes a result.
enum class Store : std::uint8_t {
  automatic,  ///< whichever is faster now, tried out from time to time, by size
  cached,     ///< ordinary stores: best when the reading core shares the last-level cache
  streamed,   ///< around the cache: best when it does not
};

inline constexpr std::size_t kib = 1024;

/// Choices of the cpu backend. Plain values; the same on every rank of a communicator, because the
/// layout of shared memory, the pipeline and the messages between hosts follow from them.
struct Tuning {
  Design design = Design::automatic;  ///< forced where it can hold the operation (tests)
  /// Bytes up to which `line` is used; at most 56.
  std::size_t line_bytes_max = 56;
  /// Bytes up to which `flat` is used, by ranks on the host: 2, 3 or 4, 5 and more.
  std::size_t flat_bytes_max_2 = 64 * kib;
  std::size_t flat_bytes_max_4 = 32 * kib;
  std::size_t flat_bytes_max_many = 16 * kib;
  /// Bytes from which `flat` follows `store`; below, its stores are always cached.
  std::size_t flat_store_from_bytes = 4096;
  /// Bytes of one rank's part of a ring block; less when many ranks share a slot.
  std::size_t slice_bytes = 128 * kib;
  /// Bytes down to which slices shrink, so that an operation has two blocks that overlap.
  std::size_t slice_bytes_min = 32 * kib;
  /// Bytes of one ring slot: the parts of all ranks.
  std::size_t slot_bytes = 512 * kib;
  /// Slots of the ring; at least 4.
  int ring_slots = 4;
  Store store = Store::automatic;  ///< for ring slots and large flat buffers
  /// Bytes (2 * ranks * operation) from which results are stored around the cache: they would not
  /// stay in it anyway.
  std::size_t stream_result_from_bytes = 32 * kib * kib;
  /// Bytes of a piece between hosts up to which latency counts more than traffic.
  std::size_t host_small_bytes = 16 * kib;
};

}  // namespace berth::coll
