// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <base/error.hpp>
#include <cpu/hosts.hpp>

namespace berth::cpu {

Hosts::Hosts(Context const& context, Arrivals const& arrivals, Mail const& mail)
    : context_(context),
      arrivals_(arrivals),
      mail_(mail),
      host_count_(context.topology.hosts()),
      lanes_(context.topology.lanes()) {
  if (!is_needed()) return;
  if (context.lane == nullptr) {
    base::fail(Errc::internal, "cpu: several hosts and no lane between them");
  }
  std::size_t const receives = host_count_ <= 4 ? static_cast<std::size_t>(host_count_) - 1 : 1;
  for (Set& set : sets_) {
    set.work.allocate(mail);
    if (host_count_ > 2) set.send.allocate(mail);
    set.received.resize(receives);
    for (Buffer& buffer : set.received) buffer.allocate(mail);
  }
  sources_.resize(static_cast<std::size_t>(host_count_));
}

void Hosts::reduce(void* out, void const* first, void const* second, std::size_t count) const {
  void const* const sources[2] = {first, second};
  arithmetic().combine(out, sources, 2, count);
}

Hosts::Way Hosts::way_for(std::size_t count) const {
  // Two hosts: one exchange is the least there can be, in steps and in bytes. Otherwise the ring
  // moves the fewest bytes and the others take the fewest steps.
  if (host_count_ == 2) return Way::exchange;
  bool const is_small = count * element() <= context_.tuning.host_small_bytes ||
                        count < static_cast<std::size_t>(host_count_);
  if (!is_small) return Way::ring;
  return host_count_ <= 4 ? Way::exchange : Way::doubling;
}

void Hosts::start(unsigned set, std::size_t count, std::uint32_t chunk) {
  Set& piece = sets_[set];
  piece.count = count;
  piece.chunk = chunk;
  piece.way = way_for(count);
  if (piece.way == Way::exchange) start_exchange(piece);
  if (piece.way == Way::ring) start_step(piece, 0);
}

void Hosts::finish(unsigned set) {
  Set& piece = sets_[set];
  switch (piece.way) {
    case Way::exchange:
      finish_exchange(piece);
      break;
    case Way::doubling:
      double_up(piece);
      break;
    case Way::ring:
      for (int step = 0; step < 2 * (host_count_ - 1); ++step) {
        if (step > 0) start_step(piece, step);
        finish_step(piece, step);
      }
      break;
  }
  arithmetic().finish(work(set), work(set), piece.count);
}

void Hosts::tell_failure(Error const& error) const noexcept {
  if (!is_needed()) return;
  for (int host = 0; host < host_count_; ++host) {
    if (host == context_.host) continue;
    // Local rank 0 is in every operation between hosts; the counterpart is the likeliest to wait.
    context_.lane->tell(context_.topology.rank(host, 0), error);
    if (has_lane() && context_.local != 0) context_.lane->tell(counterpart(host), error);
  }
}

}  // namespace berth::cpu
