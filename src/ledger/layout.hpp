// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <model/descriptor.hpp>

/// The ledger's shared memory: one segment per host and communicator, one record per local rank.
/// Only plain and lock-free atomic data, no pointers; a dead rank's record stays readable.
/// Who writes: the owner its record; the header belongs to whoever comes first. Everybody reads.
/// The ordering argument is in docs/design/0003-deadlines-and-verdicts.md.
namespace berth::ledger {

/// What a rank is doing, from start to end.
enum class Phase : std::uint32_t {
  none,
  roll_call,
  plan,
  bind,
  connect,
  data,     ///< the first coded collective
  running,  ///< the program
  verify,
  bench,
  closing,
  closed,  ///< its end is no loss
  aborted,
};

/// "bench" and so on. Never null.
char const* phase_name(Phase phase) noexcept;

/// How a rank waits.
enum class WaitKind : std::uint32_t {
  none,     ///< it does not wait: it computes, in Berth or outside
  waiting,  ///< in a Berth wait that outlasted its spin: `beat` moves
  in_mpi,   ///< inside a blocking MPI call: `beat` moves only where a thread probe is installed
};

inline constexpr std::size_t recorder_length = 1024;

/// One operation in the flight recorder: the descriptor's four words, then the times of a wait that
/// outlasted its spin (monotonic nanoseconds, 0 when there was none). Words are atomics: a reader
/// may meet a writer, and looks afterwards how far the writer has come.
struct Recorded {
  static constexpr std::size_t descriptor_words = 4;
  std::array<std::atomic<std::uint64_t>, descriptor_words> descriptor{};
  std::atomic<std::uint64_t> waited_from_ns{0};
  std::atomic<std::uint64_t> waited_to_ns{0};
  std::uint64_t reserved[2] = {0, 0};
};
static_assert(sizeof(Recorded) == 64);
static_assert(sizeof(model::Descriptor) == 8 * Recorded::descriptor_words);

/// Written once, before the ledger is published.
struct Identity {
  std::int32_t rank = -1;
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;
  std::uint64_t pid_namespace = 0;  ///< where `pid` means something; 0: not known
};

/// Written by the owner in every operation; read by others only when something takes long.
struct Progress {
  std::atomic<std::uint64_t> entered{0};  ///< number of the operation last entered
  std::atomic<std::uint64_t> left{0};     ///< number of the operation last left
  std::atomic<std::uint64_t> steps{0};    ///< moves inside long operations
  std::atomic<Phase> phase{Phase::none};
};

/// Written by the owner only in waits that outlast their spin.
struct Waiting {
  std::atomic<WaitKind> kind{WaitKind::none};
  std::atomic<std::int32_t> peer{-1};    ///< rank waited for; -1: several or not known
  std::atomic<std::uint64_t> beat{0};    ///< moves as long as the waiting thread is alive
  std::atomic<std::uint32_t> probed{0};  ///< 1: `beat` also speaks for blocking MPI calls
};

/// A verdict as one rank would have it. Only the owner's process writes it, once, and completes it
/// before the header may point to it: a rank that dies meanwhile leaves nothing half written.
struct Proposal {
  std::atomic<std::uint32_t> taken{0};  ///< 1: a thread of the owner writes it or has written it
  std::int32_t code = 0;                ///< an Errc
  std::int32_t rank = -1;               ///< rank at fault; -1: not known
  char kind[16] = {};                   ///< Finding::kind
  char text[480] = {};                  ///< one line, zero-terminated
};

/// One local rank. Lines that different ranks write are 128 bytes apart (adjacent-line prefetch).
struct Record {
  alignas(128) Identity identity;
  alignas(128) Progress progress;
  alignas(128) Waiting waiting;
  alignas(128) Proposal proposal;
  alignas(128) std::array<Recorded, recorder_length> ring;
};
static_assert(sizeof(Record) <= std::size_t{128} * 1024, "the design's budget per rank");
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Start of the segment. The padding between its members is the point of it.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Header {
  std::uint64_t magic = 0;
  std::uint32_t layout = 0;  ///< version of this layout
  std::uint32_t local_size = 0;
  /// 0: none; else 1 + the index of the rank whose proposal is the verdict. Changes once.
  alignas(128) std::atomic<std::uint32_t> verdict{0};
  /// State of the ranks (sum of their moves) about which somebody has reported a late one, plus 1.
  alignas(128) std::atomic<std::uint64_t> reported{0};
  /// Who tells people of the verdict: 0 nobody, else (1 + index) * 4 + how far it is (0, said,
  /// done).
  alignas(128) std::atomic<std::uint32_t> speaker{0};
};

}  // namespace berth::ledger
