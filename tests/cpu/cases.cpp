// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "cpu/cases.hpp"

#include <gtest/gtest.h>

#include <ledger/verdict.hpp>

namespace berth::cpu::test {
namespace {

using model::Collective;

/// One rank's view of a case: its input, what it must get, and where both lie.
class Play {
 public:
  Play(Rank& rank, Case const& call)
      : rank_(rank),
        call_(call),
        part_(call.count * size_of(call.type)),
        all_(part_ * static_cast<std::size_t>(rank.size)) {}

  bool run() {
    switch (call_.collective) {
      case Collective::all_reduce:
      case Collective::reduce:
        return reduce();
      case Collective::broadcast:
        return broadcast();
      case Collective::all_gather:
        return all_gather();
      case Collective::reduce_scatter:
        return reduce_scatter();
      case Collective::all_to_all:
        return all_to_all();
      case Collective::send_recv:
        return exchange();
      default:
        rank_.barrier();
        return true;
    }
  }

 private:
  [[nodiscard]] std::size_t first_of(int rank) const {
    return static_cast<std::size_t>(rank) * call_.count;
  }
  [[nodiscard]] std::size_t offset_of(int rank) const {
    return static_cast<std::size_t>(rank) * part_;
  }
  void fill_from(std::byte* to, int source, std::size_t count, std::size_t first = 0) const {
    fill(to, count, call_.type, call_.op, source, call_.salt, first);
  }

  /// True when `bytes` at `got` are `right` and nothing beside the buffers was written.
  bool agrees(std::byte const* got, std::vector<std::byte> const& right, Bytes const& in,
              Bytes const& out) const {
    bool const is_equal = right.empty() || std::memcmp(got, right.data(), right.size()) == 0;
    std::size_t wrong = 0;
    while (!is_equal && got[wrong] == right[wrong]) ++wrong;
    EXPECT_TRUE(is_equal) << what() << ", first wrong byte " << wrong << " of " << right.size();
    bool const is_guarded = in.is_guarded() && out.is_guarded();
    EXPECT_TRUE(is_guarded) << what() << " wrote beside a buffer";
    return is_equal && is_guarded;
  }
  [[nodiscard]] std::string what() const {
    model::Descriptor const operation{0,        call_.count,  call_.collective, call_.type,
                                      call_.op, Backend::cpu, call_.root,       0};
    return ledger::describe(operation) + (call_.is_in_place ? " in place" : "") + " on rank " +
           std::to_string(rank_.rank) + " of " + std::to_string(rank_.size);
  }

  bool reduce() {
    Bytes in(part_, call_.shift, call_.end);
    Bytes other(part_, call_.shift * 5 % 64, call_.end);
    fill_from(in.data(), rank_.rank, call_.count);
    std::vector<std::byte> const before(in.data(), in.data() + part_);
    std::byte* const out = call_.is_in_place ? in.data() : other.data();
    bool const is_reduce = call_.collective == Collective::reduce;
    bool const has_result = !is_reduce || rank_.rank == call_.root;
    if (is_reduce) {
      rank_.reduce(in.data(), has_result ? out : nullptr, call_.count, call_.type, call_.op,
                   call_.root);
    } else {
      rank_.all_reduce(in.data(), out, call_.count, call_.type, call_.op);
    }
    bool const is_kept = (call_.is_in_place && has_result) || agrees(in.data(), before, in, other);
    if (!has_result) return is_kept;
    auto const right = reference(call_.count, call_.type, call_.op, rank_.size, call_.salt);
    return agrees(out, right, in, other) && is_kept;
  }

  bool broadcast() {
    Bytes data(part_, call_.shift, call_.end);
    std::vector<std::byte> right(part_);
    fill_from(right.data(), call_.root, call_.count);
    if (rank_.rank == call_.root) fill_from(data.data(), call_.root, call_.count);
    rank_.broadcast(data.data(), call_.count, call_.type, call_.root);
    return agrees(data.data(), right, data, data);
  }

  bool all_gather() {
    Bytes own(part_, call_.shift, call_.end);
    Bytes out(all_, call_.shift * 5 % 64, call_.end);
    std::byte* const in = call_.is_in_place ? out.data() + offset_of(rank_.rank) : own.data();
    fill_from(in, rank_.rank, call_.count);
    std::vector<std::byte> right(all_);
    for (int source = 0; source < rank_.size; ++source) {
      fill_from(right.data() + offset_of(source), source, call_.count);
    }
    rank_.all_gather(in, out.data(), call_.count, call_.type);
    return agrees(out.data(), right, own, out);
  }

  bool reduce_scatter() {
    Bytes in(all_, call_.shift, call_.end);
    Bytes own(part_, call_.shift * 5 % 64, call_.end);
    std::byte* const out = call_.is_in_place ? in.data() + offset_of(rank_.rank) : own.data();
    fill_from(in.data(), rank_.rank, call_.count * static_cast<std::size_t>(rank_.size));
    std::vector<std::byte> const before(in.data(), in.data() + all_);
    rank_.reduce_scatter(in.data(), out, call_.count, call_.type, call_.op);
    auto const right =
        reference(call_.count, call_.type, call_.op, rank_.size, call_.salt, first_of(rank_.rank));
    bool const is_kept = call_.is_in_place || agrees(in.data(), before, in, own);
    return agrees(out, right, in, own) && is_kept;
  }

  bool all_to_all() {
    Bytes in(all_, call_.shift, call_.end);
    Bytes other(all_, call_.shift * 5 % 64, call_.end);
    fill_from(in.data(), rank_.rank, call_.count * static_cast<std::size_t>(rank_.size));
    std::vector<std::byte> const before(in.data(), in.data() + all_);
    std::byte* const out = call_.is_in_place ? in.data() : other.data();
    std::vector<std::byte> right(all_);
    for (int source = 0; source < rank_.size; ++source) {
      fill_from(right.data() + offset_of(source), source, call_.count, first_of(rank_.rank));
    }
    rank_.all_to_all(in.data(), out, call_.count, call_.type);
    bool const is_kept = call_.is_in_place || agrees(in.data(), before, in, other);
    return agrees(out, right, in, other) && is_kept;
  }

  /// To the rank `salt` further on, and the answer to the one that far behind.
  bool exchange() {
    auto const distance = static_cast<int>(call_.salt % static_cast<unsigned>(rank_.size));
    int const next = (rank_.rank + distance) % rank_.size;
    int const last = (rank_.rank - distance + rank_.size) % rank_.size;
    Bytes in(part_, call_.shift, call_.end);
    Bytes out(part_, call_.shift * 5 % 64, call_.end);
    fill_from(in.data(), rank_.rank, call_.count);
    rank_.exchange({{true, next, call_.type, call_.count, in.data(), nullptr},
                    {false, last, call_.type, call_.count, nullptr, out.data()}});
    std::vector<std::byte> right(part_);
    fill_from(right.data(), last, call_.count);
    return agrees(out.data(), right, in, out);
  }

  Rank& rank_;
  Case const& call_;
  std::size_t part_;
  std::size_t all_;
};

}  // namespace

bool run_case(Rank& rank, Case const& call) {
  return Play(rank, call).run();
}

}  // namespace berth::cpu::test
