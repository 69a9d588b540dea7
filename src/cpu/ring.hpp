// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <cpu/arithmetic.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/hosts.hpp>
#include <cpu/slots.hpp>
#include <cpu/stores.hpp>

namespace berth::cpu {

/// Operations of any size, in blocks that pass through a bounded number of slots.
///
/// A block of an all-reduce is `parts` slices; lane rank l reduces slice l. Blocks are numbered
/// over the life of the communicator (g). In iteration b a rank
///   1. copies block b + ahead into its slot          (mark copied = g + 1)
///   2. reduces its slice of block b from all slots
///   3. with several hosts: takes block b - 1 from the other hosts; on one host nothing (lag)
///   4. has its result of block b - lag               (mark reduced = g + 1)
///   5. copies the results of block b - lag - 1 out.
/// With slots = ahead + 2 + lag the marks that are waited for anyway make every reuse safe:
///   * copying into the slot of b + ahead needs that all lanes have reduced block b - 2 - lag
///   there:
///     step 5 of iteration b - 1 has waited for `reduced` of b - lag - 2 of every lane.
///   * writing the result of b - lag needs that all ranks have copied out b - lag - slots: step 2
///   of
///     iteration b has waited for `copied` of block b of every rank, which that rank wrote in its
///     iteration b - ahead, after step 5 of iteration b - ahead - 1 took out b - ahead - lag - 2.
///   * blocks of earlier operations: who has copied a block of this operation has left the last
///   one,
///     and who leaves an all-reduce has waited for the last result of every lane. A broadcast gives
///     no such knowledge to its source, so the source's next operation in the ring first waits
///     until all have taken it (Slots).
///
/// In place is safe: slices of others are read (1) before their results are written (5), the own
/// slice is read and written in 2 to 4, and blocks do not overlap.
class Ring {
 public:
  Ring(Context const& context, Arrivals& arrivals, Hosts& hosts, Stores& stores, Slots& slots);

  // Each is called after Arrivals::enter().

  /// Also a reduce: `out` is then null but on the root, whose alone the results are.
  void all_reduce(void const* in, void* out);
  void broadcast(void* buffer);

 private:
  /// How one operation is cut.
  struct Cut {
    std::size_t element = 0;  ///< bytes
    std::size_t total = 0;    ///< elements
    std::size_t slice = 0;    ///< elements
    std::size_t block = 0;    ///< elements
    std::uint64_t blocks = 0;
  };
  /// A range of elements; empty at the end of the buffer.
  struct Range {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  [[nodiscard]] Cut cut_all_reduce() const;
  [[nodiscard]] static Range range(Cut const& cut, std::uint64_t block, std::size_t part);
  void copy_in(Cut const& cut, std::uint64_t block, void const* in);
  void reduce(Cut const& cut, std::uint64_t block, void const* in, void* out);
  void finish_between_hosts(Cut const& cut, std::uint64_t block, void* out);
  void copy_out(Cut const& cut, std::uint64_t block, void* out);
  void store_shared(void* to, void const* from, std::size_t bytes) const;
  void reduce_both(void* out, void* result, std::size_t count);
  [[nodiscard]] Arithmetic arithmetic() const {
    return {*context_.kernels, arrivals_.operation(), context_.topology.size()};
  }
  void send_blocks(Cut const& cut, void* buffer);
  void take_blocks(Cut const& cut, void* buffer, int source);

  Context const& context_;
  Arrivals& arrivals_;
  Hosts& hosts_;
  Stores& stores_;
  Slots& slots_;
  int parts_;
  bool is_lane_;  ///< this rank reduces a slice
  std::uint64_t lag_;
  std::uint64_t ahead_;
  bool is_streamed_ = false;  ///< how this operation stores into shared memory
  std::vector<void const*> sources_;
};

}  // namespace berth::cpu
