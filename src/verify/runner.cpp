// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>

#include <pattern/pattern.hpp>
#include <verify/runner.hpp>

namespace berth::verification {
namespace {

/// Room for a start that is not aligned to anything.
constexpr std::size_t slack = 64;
constexpr std::size_t input_offset = 1;
constexpr std::size_t output_offset = 3;

pattern::Code code_of(Round const& round, int ranks) {
  return {round.what.type, round.what.op, ranks, round.number};
}

Probe probe_of(Round const& round, int ranks) {
  return {round.what.type, ranks, round.number, round.owner, round.what.shift};
}

Observation observation(Wrong const& wrong) {
  Observation seen;
  seen.wrong = wrong.count;
  seen.first = wrong.first;
  seen.observed = wrong.observed;
  return seen;
}

/// Adds the wrong element itself to the pattern room's answer.
Wrong with_element(pattern::Check const& check, Type type, std::byte const* data) {
  Wrong wrong{check.wrong, check.first_wrong, 0};
  std::size_t const size = size_of(type);
  if (wrong.count > 0) std::memcpy(&wrong.observed, data + wrong.first * size, size);
  return wrong;
}

}  // namespace

Runner::Runner(Communicator::Impl& impl, std::size_t largest) : impl_(impl) {
  Errc code = Errc::ok;
  try {
    input_.resize(largest + slack);
    output_.resize(largest + slack);
  } catch (std::bad_alloc const&) {
    code = Errc::out_of_memory;
  }
  impl_.agree(code, code == Errc::ok ? "" : "verify: no memory for the buffers");
}

std::byte* Runner::input(Layout layout) {
  switch (layout) {
    case Layout::in_place:
      return output_.data();
    case Layout::misaligned:
      return input_.data() + input_offset;
    case Layout::out_of_place:
      break;
  }
  return input_.data();
}

std::byte* Runner::output(Layout layout) {
  return layout == Layout::misaligned ? output_.data() + output_offset : output_.data();
}

void Runner::fill(Round const& round, std::byte* out) const {
  int const rank = impl_.rank();
  int const ranks = impl_.size();
  if (round.what.coding == Coding::exposed) {
    probe_of(round, ranks).fill(rank, out, round.what.count());
  } else {
    pattern::fill(code_of(round, ranks), rank, out, 0, round.what.count());
  }
}

Wrong Runner::check(Round const& round, std::byte const* data) const {
  int const ranks = impl_.size();
  std::size_t const count = round.what.count();
  if (round.what.coding == Coding::exposed) return probe_of(round, ranks).check(data, count);
  return with_element(pattern::check_reduced(code_of(round, ranks), data, 0, count),
                      round.what.type, data);
}

bool Runner::is_damaged(Round const& round, std::byte const* data) const {
  int const rank = impl_.rank();
  int const ranks = impl_.size();
  std::size_t const count = round.what.count();
  if (round.what.layout == Layout::in_place) return false;
  if (round.what.coding == Coding::exposed)
    return probe_of(round, ranks).check_own(rank, data, count).count > 0;
  return pattern::check_single(code_of(round, ranks), rank, data, 0, count).wrong > 0;
}

Observation Runner::all_reduce(Round const& round) {
  std::byte* const in = input(round.what.layout);
  std::byte* const out = output(round.what.layout);
  fill(round, in);
  impl_.run(impl_.backend(), {model::Collective::all_reduce, in, out, round.what.count(),
                              round.what.type, round.what.op});
  Observation seen = observation(check(round, out));
  seen.input_damaged = seen.wrong > 0 && is_damaged(round, in) ? 1 : 0;
  return seen;
}

Observation Runner::broadcast(Type type, std::size_t bytes, int root) {
  std::size_t const count = bytes / size_of(type);
  pattern::Code const code{type, Op::sum, impl_.size(), fresh()};
  std::byte* const data = output_.data();
  if (impl_.rank() == root) pattern::fill(code, root, data, 0, count);
  impl_.run(impl_.backend(),
            {model::Collective::broadcast, data, data, count, type, Op::sum, root});
  Observation seen =
      observation(with_element(pattern::check_single(code, root, data, 0, count), type, data));
  seen.input_damaged = seen.wrong > 0 && impl_.rank() == root ? 1 : 0;
  return seen;
}

void Runner::barrier() {
  impl_.run(impl_.backend(), {model::Collective::barrier});
}

std::vector<Observation> Runner::gather(Observation const& own) {
  std::vector<Observation> all(static_cast<std::size_t>(impl_.size()));
  impl_.mpi().all_gather(&own, sizeof own, all.data(), impl_.watch());
  return all;
}

std::vector<Word> Runner::words(Round const& round, std::size_t element) const {
  int const ranks = impl_.size();
  if (round.what.coding == Coding::exposed) return probe_of(round, ranks).words(element);
  std::vector<Word> words(static_cast<std::size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank)
    pattern::fill(code_of(round, ranks), rank, &words[static_cast<std::size_t>(rank)], element, 1);
  return words;
}

}  // namespace berth::verification
