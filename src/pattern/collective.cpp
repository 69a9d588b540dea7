// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <pattern/collective.hpp>

namespace berth::pattern {

namespace {

using model::Collective;

std::size_t ranks_of(Coded const& coded) {
  return static_cast<std::size_t>(coded.code.ranks);
}

/// Adds the check of a part that begins `at` elements into the buffer.
void add(Check& sum, Check const& part, std::size_t at) {
  if (part.wrong > 0 && sum.wrong == 0) {
    sum.first_wrong = at;
    sum.flipped = part.flipped;
  }
  sum.wrong += part.wrong;
}

/// Part r of `out` must be what rank r has put in, from element `first` of its input on.
Check check_parts(Coded const& coded, void const* out, std::size_t first) {
  Check sum;
  std::size_t const bytes = coded.count * size_of(coded.code.type);
  for (std::size_t rank = 0; rank < ranks_of(coded); ++rank) {
    auto const* const part = static_cast<std::byte const*>(out) + rank * bytes;
    Check const check = check_single(coded.code, static_cast<int>(rank), part, first, coded.count);
    add(sum, check, rank * coded.count + (check.first_wrong - first));
  }
  return sum;
}

}  // namespace

std::size_t in_elements(Coded const& coded) {
  return coded.count * (model::has_in_parts(coded.collective) ? ranks_of(coded) : 1);
}

std::size_t out_elements(Coded const& coded) {
  return coded.count * (model::has_out_parts(coded.collective) ? ranks_of(coded) : 1);
}

InPlace in_place(Coded const& coded, int rank) {
  InPlace place;
  place.elements = std::max(in_elements(coded), out_elements(coded));
  std::size_t const own = static_cast<std::size_t>(rank) * coded.count;
  if (coded.collective == Collective::all_gather) place.in = own;
  if (coded.collective == Collective::reduce_scatter) place.out = own;
  if (coded.collective == Collective::send_recv) {
    place.elements = 2 * coded.count;  // a ring has no place of its own
    place.out = coded.count;
  }
  return place;
}

void fill_input(Coded const& coded, int rank, void* in) {
  if (coded.collective == Collective::broadcast && rank != coded.root) return;
  fill(coded.code, rank, in, 0, in_elements(coded));
}

Check check_output(Coded const& coded, int rank, void const* out) {
  std::size_t const own = static_cast<std::size_t>(rank) * coded.count;
  switch (coded.collective) {
    case Collective::all_reduce:
      return check_reduced(coded.code, out, 0, coded.count);
    case Collective::reduce:
      return rank == coded.root ? check_reduced(coded.code, out, 0, coded.count) : Check{};
    case Collective::broadcast:
      return check_single(coded.code, coded.root, out, 0, coded.count);
    case Collective::all_gather:
      return check_parts(coded, out, 0);
    case Collective::reduce_scatter: {
      Check check = check_reduced(coded.code, out, own, coded.count);
      if (check.wrong > 0) check.first_wrong -= own;
      return check;
    }
    case Collective::all_to_all:
      return check_parts(coded, out, own);
    case Collective::send_recv: {
      int const ranks = coded.code.ranks;
      return check_single(coded.code, (rank + ranks - 1) % ranks, out, 0, coded.count);
    }
    case Collective::barrier:
    case Collective::none:
      break;
  }
  return {};
}

}  // namespace berth::pattern
