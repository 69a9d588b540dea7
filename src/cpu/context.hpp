// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coll/tuning.hpp>
#include <cpu/lane.hpp>
#include <cpu/segment.hpp>
#include <cpu/topology.hpp>
#include <kernel/reduce.hpp>
#include <ledger/ledger.hpp>
#include <ledger/watch.hpp>

namespace berth::cpu {

/// What the parts of the backend share: where this rank is, its host's memory, how to wait.
struct Context {
  int rank = 0;
  int host = 0;
  int local = 0;       ///< own index on the host
  int local_size = 1;  ///< ranks on the host
  Topology topology;
  Segment segment;
  coll::Tuning tuning;
  ledger::Ledger* ledger = nullptr;  ///< may be null; outlives the backend
  ledger::Watch* watch = nullptr;    ///< not null; outlives the backend
  Lane* lane = nullptr;              ///< null only when nothing is sent; outlives the backend
  kernel::Kernels const* kernels = nullptr;

  /// The rank with this index on the own host.
  [[nodiscard]] int rank_of(int local_rank) const { return topology.rank(host, local_rank); }

  /// Returns when `ready()` is true. @throws Error lost, timeout, mismatch, aborted
  template <class Ready>
  void wait(Ready&& ready, int peer) const {
    // What is there already, or arrives within a cache miss or two, costs no pause.
    for (int i = 0; i < polls; ++i) {
      if (ready()) return;
    }
    watch->until_ready(ready, peer);
  }

  /// Ends the communicator with a verdict that this rank has found. Between hosts, each with its
  /// own ledger, the first host's word holds, so that all ranks say the same: the others report to
  /// it and take what it tells them, their own verdict only when it does not answer.
  /// @throws Error the verdict that holds
  [[noreturn]] void raise(ledger::Verdict const& verdict) const;

  /// Waits until the mark of a local rank has reached `count`.
  void wait_mark(int local_rank, Mark which, std::uint64_t count) const {
    std::atomic<std::uint64_t> const& mark = segment.mark(local_rank, which);
    wait([&] { return mark.load(std::memory_order_acquire) >= count; }, rank_of(local_rank));
  }
  /// Publishes everything written before, and that the own mark is `count`.
  void set_mark(Mark which, std::uint64_t count) const {
    segment.mark(local, which).store(count, std::memory_order_release);
  }
  /// Fetches the cache lines of own memory for writing, without waiting. The peers' caches hold
  /// lines that they have read; taking them back ahead of the next operation spares it one way
  /// between the cores of two. Only when nobody reads them any more, or they bounce.
  static void take_back(std::byte const* memory, std::size_t bytes) {
#if defined(__x86_64__)
    for (std::size_t at = 0; at < bytes; at += sizeof(Line)) {
      asm volatile("prefetchw %0" : : "m"(memory[at]));
    }
#else
    for (std::size_t at = 0; at < bytes; at += sizeof(Line)) __builtin_prefetch(memory + at, 1);
#endif
  }
  /// A long operation has done a block.
  void step() const {
    if (ledger != nullptr) ledger->step();
  }

  static constexpr int polls = 32;
};

}  // namespace berth::cpu
