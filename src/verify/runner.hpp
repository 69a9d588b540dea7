// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <comm/impl.hpp>
#include <verify/cases.hpp>
#include <verify/probe.hpp>

namespace berth::verification {

/// One collective of the check; equal on every rank.
struct Round {
  Case what;
  std::uint32_t number = 0;  ///< fresh for every collective: old data cannot look right
  std::optional<int> owner;  ///< exposed: the one rank that is heard; absent: they take turns
};

/// What one rank saw of one collective. Plain data: ranks exchange it byte by byte.
struct Observation {
  std::uint64_t wrong = 0;          ///< wrong elements of the result
  std::uint64_t first = 0;          ///< index of the first of them
  Word observed = 0;                ///< its bits
  std::uint32_t index = 0;          ///< which case of a size, where several are summed up
  std::uint32_t input_damaged = 0;  ///< 1: the own input is no longer what was filled in
};

/// Runs coded collectives on a communicator's backend and compares notes between the ranks, which
/// never go through the backend under suspicion.
class Runner {
 public:
  /// Collective. @param largest bytes of the largest case @throws Error out_of_memory, lost, mpi
  Runner(Communicator::Impl& impl, std::size_t largest);

  /// Collective: one all-reduce. The result is this rank's own observation.
  Observation all_reduce(Round const& round);
  /// Collective: one broadcast of `root`'s pattern.
  Observation broadcast(Type type, std::size_t bytes, int root);
  /// Collective: a barrier of the backend.
  void barrier();
  /// Collective: the observations of all ranks, by rank.
  std::vector<Observation> gather(Observation const& own);

  /// The contributions of all ranks to one element of `round`, by rank.
  [[nodiscard]] std::vector<Word> words(Round const& round, std::size_t element) const;
  /// A number that no collective of this check has had.
  std::uint32_t fresh() { return next_++; }
  [[nodiscard]] Communicator::Impl& impl() const { return impl_; }

 private:
  [[nodiscard]] std::byte* input(Layout layout);
  [[nodiscard]] std::byte* output(Layout layout);
  void fill(Round const& round, std::byte* out) const;
  [[nodiscard]] Wrong check(Round const& round, std::byte const* data) const;
  [[nodiscard]] bool is_damaged(Round const& round, std::byte const* data) const;

  Communicator::Impl& impl_;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
  std::uint32_t next_ = 1;
};

}  // namespace berth::verification
