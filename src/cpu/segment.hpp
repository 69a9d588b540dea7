// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coll/tuning.hpp>

/// The data segment of one host: what its ranks share to move data. It starts zeroed, holds no
/// pointers, and every offset follows from the number of local ranks and the tuning.
///
/// One region per local rank, written by its owner alone:
///   lines    two (parity of the sequence) cache lines: 8 bytes of flag, 56 of payload
///   marks    ring progress, one cache line each
///   flat     two buffers (parity of the sequence)
///   slots    the owner's input of a ring block, for the ranks that reduce it
///   results  the owner's reduced part of a ring block, for everybody
namespace berth::cpu {

inline constexpr std::size_t line_payload = 56;

/// One cache line. The flag is sequence << 32 | fingerprint and is stored (release) after the
/// payload; who has loaded it (acquire) may read the payload.
struct alignas(64) Line {
  std::atomic<std::uint64_t> flag;
  std::byte payload[line_payload];
};
static_assert(sizeof(Line) == 64);

/// How far a rank is in the ring; a count of blocks over the life of the communicator.
enum class Mark : int {
  copied,   ///< its input of so many blocks is in its slots
  reduced,  ///< so many of its results are complete
  taken,    ///< it has copied so many blocks of broadcasts out of the source's slots
  stores,   ///< of local rank 0, not a count: bit c says that size class c is streamed
};

/// Address arithmetic over one host's segment. Does not own the memory.
class Segment {
 public:
  Segment() = default;
  /// @param memory zeroed, 4096-aligned, at least bytes(); the same memory on every local rank
  Segment(std::byte* memory, coll::Tuning const& tuning);
  /// Bytes for a host with `local_size` ranks; at most 4 MiB per rank with the default tuning.
  static std::size_t bytes(int local_size, coll::Tuning const& tuning);

  [[nodiscard]] Line* line(int local, unsigned parity) const {
    return reinterpret_cast<Line*>(region(local) + parity * line_stride);
  }
  [[nodiscard]] std::atomic<std::uint64_t>& mark(int local, Mark which) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(
        region(local) + marks_offset + static_cast<std::size_t>(which) * mark_stride);
  }
  [[nodiscard]] std::byte* flat(int local, unsigned parity) const {
    return region(local) + flat_offset + parity * flat_bytes_;
  }
  [[nodiscard]] std::byte* slot(int local, std::uint64_t block) const {
    return region(local) + slots_offset_ + block % slots_ * slot_bytes_;
  }
  [[nodiscard]] std::byte* result(int local, std::uint64_t block) const {
    return region(local) + results_offset_ + block % slots_ * result_bytes_;
  }
  [[nodiscard]] std::size_t flat_bytes() const { return flat_bytes_; }
  [[nodiscard]] std::size_t slot_bytes() const { return slot_bytes_; }
  [[nodiscard]] std::size_t result_bytes() const { return result_bytes_; }
  [[nodiscard]] std::uint64_t slots() const { return slots_; }

 private:
  // 128 bytes between what different ranks or phases write: the adjacent-line prefetcher pairs
  // lines, and a pair with two writers would bounce.
  static constexpr std::size_t line_stride = 128;
  static constexpr std::size_t marks_offset = 2 * line_stride;
  static constexpr std::size_t mark_stride = 128;
  static constexpr std::size_t flat_offset = 4096;
  static_assert(marks_offset + 4 * mark_stride <= flat_offset);

  [[nodiscard]] std::byte* region(int local) const {
    return memory_ + static_cast<std::size_t>(local) * region_bytes_;
  }

  std::byte* memory_ = nullptr;
  std::size_t flat_bytes_ = 0;
  std::size_t slot_bytes_ = 0;
  std::size_t result_bytes_ = 0;
  std::uint64_t slots_ = 1;
  std::size_t slots_offset_ = 0;
  std::size_t results_offset_ = 0;
  std::size_t region_bytes_ = 0;
};

}  // namespace berth::cpu
