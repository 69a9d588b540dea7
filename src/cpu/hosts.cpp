// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>

#include <base/error.hpp>
#include <cpu/hosts.hpp>
#include <cpu/mismatch.hpp>

namespace berth::cpu {

/// In front of every message between hosts.
struct Hosts::Header {
  std::uint32_t sequence;
  std::uint32_t fingerprint;
  std::uint32_t chunk;
  std::int32_t step;  ///< of the algorithm
  model::Descriptor operation;
  std::uint64_t reserved[2];
};

Hosts::Hosts(Context const& context, Arrivals const& arrivals)
    : context_(context),
      arrivals_(arrivals),
      host_count_(context.topology.hosts()),
      lanes_(context.topology.lanes()),
      capacity_(std::max({context.segment.result_bytes(), context.tuning.flat_bytes_max_2,
                          context.tuning.flat_bytes_max_4, context.tuning.flat_bytes_max_many})) {
  static_assert(sizeof(Header) == header_bytes);
  if (!is_needed()) return;
  if (context.lane == nullptr)
    base::fail(Errc::internal, "cpu: several hosts and no lane between them");
  std::size_t const receives = host_count_ <= 4 ? static_cast<std::size_t>(host_count_) - 1 : 1;
  for (Set& set : sets_) {
    set.work.allocate(header_bytes + capacity_);
    if (host_count_ > 2) set.send.allocate(header_bytes + capacity_);
    set.received.resize(receives);
    for (Buffer& buffer : set.received) buffer.allocate(header_bytes + capacity_);
  }
  sources_.resize(static_cast<std::size_t>(host_count_));
}

Hosts::~Hosts() {
  if (open_ == 0) return;
  for (Set& set : sets_) {
    set.work.leak();
    set.send.leak();
    for (Buffer& buffer : set.received) buffer.leak();
  }
}

std::size_t Hosts::element() const {
  model::Descriptor const& operation = arrivals_.operation();
  return operation.collective == model::Collective::barrier ? 1 : size_of(operation.type);
}

Hosts::Transfer Hosts::send(std::byte* message, std::size_t bytes, int to, std::uint32_t chunk,
                            int step) {
  Header const header{
      arrivals_.sequence(), arrivals_.fingerprint(), chunk, step, arrivals_.operation(), {}};
  std::memcpy(message, &header, sizeof header);
  Transfer const transfer{context_.lane->send(to, message, header_bytes + bytes), to};
  ++open_;
  return transfer;
}

Hosts::Transfer Hosts::receive(Buffer const& into, int from) {
  Transfer const transfer{context_.lane->receive(from, into.data(), header_bytes + capacity_),
                          from};
  ++open_;
  return transfer;
}

void Hosts::complete(Transfer& transfer) {
  if (!transfer.is_open()) return;
  context_.wait([&] { return context_.lane->test(transfer.ticket); }, transfer.peer);
  transfer = {};
  --open_;
}

void Hosts::complete_all(std::vector<Transfer>& transfers) {
  for (Transfer& transfer : transfers) complete(transfer);
  transfers.clear();
}

std::byte* Hosts::payload(Buffer const& message, int from, std::uint32_t chunk, int step) const {
  Header header;
  std::memcpy(&header, message.data(), sizeof header);
  std::byte* const data = message.data() + header_bytes;
  if (header.sequence != arrivals_.sequence() || header.fingerprint != arrivals_.fingerprint()) {
    report(header, from);
  }
  if (header.chunk != chunk || header.step != step) {
    base::fail(Errc::internal, "cpu: a message between hosts came out of order", from);
  }
  return data;
}

void Hosts::report(Header const& header, int from) const {
  // A message that nobody took may be of an earlier operation; the own part in that one counts.
  Doing self{context_.rank, arrivals_.operation()};
  std::uint64_t const number = header.operation.number;
  if (number < self.operation->number && context_.ledger != nullptr) {
    if (auto const then = context_.ledger->recorded(context_.local, number)) self.operation = then;
  }
  Doing const other{from, header.operation};
  // Two ranks, two opinions: the higher one is named, so that both name the same.
  context_.raise(self.rank > other.rank ? mismatch(number, self, other)
                                        : mismatch(number, other, self));
}

void Hosts::reduce(void* out, void const* first, void const* second, std::size_t count) const {
  if (count == 0) return;
  model::Descriptor const& operation = arrivals_.operation();
  void const* const sources[2] = {first, second};
  context_.kernels->reduce[static_cast<int>(operation.type)][static_cast<int>(operation.op)](
      out, sources, 2, count);
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
