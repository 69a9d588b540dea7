// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coll/backend.hpp>
#include <coll/tuning.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/hosts.hpp>
#include <cpu/mail.hpp>
#include <cpu/pairs.hpp>
#include <cpu/ring.hpp>
#include <cpu/rounds.hpp>
#include <cpu/slots.hpp>
#include <cpu/small.hpp>
#include <cpu/stores.hpp>

namespace berth::cpu {

/// What a CpuBackend is made of. Pointers are not owned and outlive it.
struct Setup {
  int rank = 0;                      ///< own rank
  Topology topology;                 ///< the same on every rank
  std::byte* segment = nullptr;      ///< of this host: zeroed before anybody uses it, 4096-aligned
  ledger::Ledger* ledger = nullptr;  ///< for descriptors and progress; may be null
  ledger::Watch* watch = nullptr;    ///< not null
  Lane* lane = nullptr;  ///< not null when there are several hosts or messages between ranks
  coll::Tuning tuning;   ///< the same on every rank
  kernel::Kernels const* kernels = nullptr;  ///< null: kernel::best()
};

/// Collectives over shared memory inside a host and messages between hosts.
///
/// Every rank gets bitwise the same result: an element is reduced in the order of local ranks and
/// then in the order of hosts (or, in long all_reduces and reduces, of the ring over hosts), which
/// follows from count, type, layout and tuning alone. Used by one thread. After an Error nothing
/// but the destructor may be called.
class CpuBackend final : public coll::Backend {
 public:
  /// Local; the segment must be zeroed before any rank calls a collective.
  /// @throws Error internal when the set-up is not usable
  explicit CpuBackend(Setup const& setup);
  CpuBackend(CpuBackend const&) = delete;
  CpuBackend& operator=(CpuBackend const&) = delete;

  /// Bytes of the segment of a host with `local_size` ranks.
  static std::size_t segment_bytes(int local_size, coll::Tuning const& tuning) {
    return Segment::bytes(local_size, tuning);
  }

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  void all_reduce(model::Descriptor const& op, void const* in, void* out) override;
  void reduce(model::Descriptor const& op, void const* in, void* out) override;
  void broadcast(model::Descriptor const& op, void* buffer) override;
  void all_gather(model::Descriptor const& op, void const* in, void* out) override;
  void reduce_scatter(model::Descriptor const& op, void const* in, void* out) override;
  void all_to_all(model::Descriptor const& op, void const* in, void* out) override;
  /// Only the ranks that have messages for each other need to call it.
  void exchange(std::vector<coll::Message> const& messages) override;
  void barrier(model::Descriptor const& op) override;

 private:
  [[nodiscard]] coll::Design design_for(model::Descriptor const& op) const;
  /// Design of an operation in which every rank has `parts` times op.count elements.
  [[nodiscard]] bool fits_flat(model::Descriptor const& op, std::size_t parts) const;
  void reduce_to(model::Descriptor const& op, void const* in, void* out);
  /// Runs a step of an operation and tells the other hosts when it fails here.
  template <class Step>
  void guard(Step&& step);

  Context context_;
  Arrivals arrivals_;
  Mail mail_;
  Hosts hosts_;
  Stores stores_;
  Slots slots_;
  Small small_;
  Ring ring_;
  Rounds rounds_;
  Pairs pairs_;
  std::size_t line_bytes_max_;
  std::size_t flat_bytes_max_;
};

}  // namespace berth::cpu
