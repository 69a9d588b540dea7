// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <berth/types.hpp>

/// Contributions made for finding the guilty rank. Pure.
///
/// At every element one rank, the owner, contributes a positive random word and all others quiet
/// negative ones; the operation is max. Whatever single bit of the owner's word is flipped, the
/// result changes; a flipped bit of a quiet word is absorbed, or, when it is the sign, names its
/// rank by its value. So the result of one collective says whose contribution is damaged.
namespace berth::verification {

/// An element's bits in the low bytes of a word.
using Word = std::uint64_t;

/// Reduces words in rank order, as the collectives define it. `words` is not empty.
Word reduce(Type type, Op op, std::vector<Word> const& words);

/// Do these two results mean the same? Any NaN equals any other.
bool same(Type type, Word left, Word right);

/// A contribution that explains a wrong element.
struct Culprit {
  int rank = -1;
  int bit = -1;
};
/// All single flipped bits of one contribution that make `observed` out of `words`.
std::vector<Culprit> explain(Type type, Op op, std::vector<Word> const& words, Word observed);

/// Result of a comparison with the right result.
struct Wrong {
  std::size_t count = 0;
  std::size_t first = 0;  ///< index of the first wrong element; undefined when count is 0
  Word observed = 0;      ///< its bits
};

/// The contributions of all ranks in one collective. They repeat after `period` elements.
class Probe {
 public:
  static constexpr std::size_t period = 61;  ///< a prime: no block or line has this length

  /// @param owner the rank that owns every element; absent: rank (element + shift) mod ranks
  Probe(Type type, int ranks, std::uint32_t round, std::optional<int> owner, int shift = 0);
  [[nodiscard]] static constexpr Op op() { return Op::max; }

  /// The contribution of `rank` to `element`.
  [[nodiscard]] Word word(int rank, std::size_t element) const;
  /// The contributions of all ranks to `element`, by rank.
  [[nodiscard]] std::vector<Word> words(std::size_t element) const;
  /// Writes `count` elements of `rank`; any alignment.
  void fill(int rank, void* out, std::size_t count) const;
  /// Compares `count` elements with the right result; any alignment.
  [[nodiscard]] Wrong check(void const* data, std::size_t count) const;
  /// Compares `count` elements with the contribution of `rank`; any alignment.
  [[nodiscard]] Wrong check_own(int rank, void const* data, std::size_t count) const;

 private:
  using Table = std::array<Word, period>;
  [[nodiscard]] Wrong compare(Table const& right, void const* data, std::size_t count) const;
  [[nodiscard]] Table table(int rank) const;

  Type type_;
  int ranks_;
  std::uint32_t round_;
  std::optional<int> owner_;
  int shift_;
};

}  // namespace berth::verification
