// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <base/clock.hpp>
#include <bench/buffers.hpp>
#include <bench/sweep.hpp>
#include <pattern/collective.hpp>

namespace berth::bench {

/// Bytes of the larger of a rank's two buffers.
std::size_t bytes_of(pattern::Coded const& what);

/// Measures one collective, size, type and operation. Every method is collective.
class Case {
 public:
  /// @param seconds about how long the timed rounds may take when the plan fixes no number
  /// @throws Error out_of_memory on all ranks
  Case(Communicator::Impl& impl, Plan const& plan, pattern::Coded const& what, double seconds);
  ~Case();
  Case(Case const&) = delete;
  Case& operator=(Case const&) = delete;
  /// Checks, warms up, measures. The same result on every rank.
  model::Result measure();

 private:
  /// One way of doing the operation, and its times.
  struct Variant {
    coll::Backend* backend;
    bool is_on_device;
    std::byte* in;
    std::byte* out;
    Buffer const* rewritten;  ///< what is written anew before a batch
    std::size_t wrong = 0;
    int batch = 1;  ///< operations in one sample
    std::vector<double> samples =
        {};  ///< microseconds per operation, first of this rank, then of all
  };

  void make_variants();
  void run(Variant const& variant);
  /// The same on the device's clock: the batch is enqueued as a whole.
  double time_on_device(Variant const& variant);
  void check(Variant& variant, std::uint32_t round);
  void warm_up();
  /// Microseconds per operation of one batch on this rank.
  double time_batch(Variant const& variant);
  void round(bool is_reversed);
  void run_rounds();
  /// Replaces each value by the largest of all ranks.
  void slowest(std::vector<double>& values);
  [[nodiscard]] model::Measured measured(Variant const& variant) const;

  [[nodiscard]] int root() const { return model::has_root(what_.collective) ? what_.root : -1; }

  Communicator::Impl& impl_;
  Plan const& plan_;
  pattern::Coded what_;
  double seconds_;
  base::SteadyClock clock_;
  std::deque<Buffer> buffers_;      ///< variants point into it
  std::vector<void*> registered_;   ///< handles of buffers that NCCL knows
  std::vector<gpu::Event> events_;  ///< start and end of a batch on the device
  std::vector<Variant> variants_;   ///< out of place, in place, and the reference when compared
};

}  // namespace berth::bench
