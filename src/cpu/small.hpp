// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <cpu/arithmetic.hpp>
#include <cpu/arrivals.hpp>
#include <cpu/context.hpp>
#include <cpu/hosts.hpp>
#include <cpu/stores.hpp>

namespace berth::cpu {

/// Operations with one synchronisation, for messages that fit into a line or the flat buffers.
///
/// On one host everybody publishes its data and reduces everybody's, in rank order. With several
/// hosts local rank 0 leads: it reduces its host's data, takes part between the hosts, and
/// publishes the result in place of its own data, which nobody needs.
class Small {
 public:
  Small(Context const& context, Arrivals& arrivals, Hosts& hosts, Stores& stores);

  /// Bytes that a line can carry.
  static constexpr std::size_t line_capacity = line_payload;
  /// Bytes that flat buffers can carry.
  [[nodiscard]] std::size_t flat_capacity() const { return context_.segment.flat_bytes(); }

  // Each is called after Arrivals::enter() with an operation that fits.

  /// Also a reduce: `out` is then null but on the root.
  void all_reduce_line(void const* in, void* out);
  void all_reduce_flat(void const* in, void* out);
  void broadcast_line(void* buffer);
  void broadcast_flat(void* buffer);
  void barrier();

  // On one host only; what a rank has for all of them fits into its flat buffer.

  void all_gather_flat(void const* in, void* out);
  void reduce_scatter_flat(void const* in, void* out);
  void all_to_all_flat(void const* in, void* out);

 private:
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] bool is_leader() const { return context_.local == 0; }
  [[nodiscard]] Arithmetic arithmetic() const {
    return {*context_.kernels, arrivals_.operation(), context_.topology.size()};
  }
  /// Reduces sources_: whole on one host, else the host's part.
  void reduce_sources(void* out) const;
  void reduce_lines(void const* in, void* out);
  void reduce_flats(void const* in, void* out);
  void read_line(int local, void* out);
  void copy_to_flat(void const* data, std::size_t count, bool is_streamed);
  void all_reduce_flat_on_one_host(void const* in, void* out);
  void reduce_flat_on_one_host(void const* in, void* out);
  /// Where the part of a local rank lies in a buffer that has one of every rank.
  [[nodiscard]] std::byte const* part_of(void const* buffer, int local) const {
    return static_cast<std::byte const*>(buffer) +
           static_cast<std::size_t>(context_.rank_of(local)) * bytes();
  }
  [[nodiscard]] std::byte* part_of(void* buffer, int local) const {
    return static_cast<std::byte*>(buffer) +
           static_cast<std::size_t>(context_.rank_of(local)) * bytes();
  }
  /// The leader's way to the other hosts, in place.
  void between_hosts(std::size_t count);
  /// Sends or fetches the data of a broadcast; returns where it is, null where the rank waits for
  /// its host's representative.
  void const* broadcast_between_hosts(void const* buffer);

  Context const& context_;
  Arrivals& arrivals_;
  Hosts& hosts_;
  Stores& stores_;
  std::vector<void const*> sources_;
};

}  // namespace berth::cpu
