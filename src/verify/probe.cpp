// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <verify/probe.hpp>

namespace berth::verification {
namespace {

/// Calls `body` with a value of the C++ type of `type`.
template <class Body>
auto with_type(Type type, Body&& body) {
  switch (type) {
    case Type::int32:
      return body(std::int32_t{});
    case Type::int64:
      return body(std::int64_t{});
    case Type::float32:
      return body(float{});
    default:  // cases.cpp probes with no other type
      break;
  }
  return body(double{});
}

template <class T>
T value_of(Word word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

template <class T>
Word word_of(T value) {
  Word word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

template <class T>
T combine(Op op, T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // wraps without undefined behaviour
    if (op == Op::sum) return static_cast<T>(static_cast<U>(left) + static_cast<U>(right));
    if (op == Op::prod) return static_cast<T>(static_cast<U>(left) * static_cast<U>(right));
  } else {
    if (op == Op::sum) return left + right;
    if (op == Op::prod) return left * right;
    if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<T>::quiet_NaN();
  }
  return (op == Op::min) == (right < left) ? right : left;
}

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The owner's word: positive, at least 1, with every mantissa bit random.
template <class T>
T loud(std::uint64_t random) {
  if constexpr (std::is_integral_v<T>) {
    constexpr std::uint64_t mask = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) >> 1;
    return static_cast<T>((random & mask) | 1);
  } else {
    constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    std::uint64_t const fraction = random & ((std::uint64_t{1} << mantissa) - 1);
    return T{1} + std::ldexp(static_cast<T>(fraction), -mantissa);
  }
}

/// What a rank that is not to be heard contributes. Floats: -1, which no flipped bit brings above
/// 1 or to NaN. Integers: a value of its own, so that a flipped sign names the rank.
template <class T>
T quiet(int rank) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(-1 - rank);
  } else {
    return T{-1};
  }
}

}  // namespace

Word reduce(Type type, Op op, std::vector<Word> const& words) {
  return with_type(type, [&](auto tag) {
    using T = decltype(tag);
    T result = value_of<T>(words.front());
    for (std::size_t i = 1; i < words.size(); ++i)
      result = combine(op, result, value_of<T>(words[i]));
    return word_of(result);
  });
}

bool same(Type type, Word left, Word right) {
  if (left == right) return true;
  return with_type(type, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) {
      return false;
    } else {
      return std::isnan(value_of<T>(left)) && std::isnan(value_of<T>(right));
    }
  });
}

std::vector<Culprit> explain(Type type, Op op, std::vector<Word> const& words, Word observed) {
  std::vector<Culprit> culprits;
  std::vector<Word> changed = words;
  int const bits = static_cast<int>(8 * size_of(type));
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    for (int bit = 0; bit < bits; ++bit) {
      changed[rank] = words[rank] ^ (Word{1} << bit);
      if (same(type, reduce(type, op, changed), observed))
        culprits.push_back({static_cast<int>(rank), bit});
    }
    changed[rank] = words[rank];
  }
  return culprits;
}

Probe::Probe(Type type, int ranks, std::uint32_t round, std::optional<int> owner, int shift)
    : type_(type), ranks_(ranks), round_(round), owner_(owner), shift_(shift) {}

Word Probe::word(int rank, std::size_t element) const {
  std::size_t const slot = element % period;
  int const owner = owner_ ? *owner_
                           : static_cast<int>((slot + static_cast<std::size_t>(shift_)) %
                                              static_cast<std::size_t>(ranks_));
  std::uint64_t const random =
      mix(mix(std::uint64_t{round_} << 32 | static_cast<std::uint32_t>(rank)) + slot);
  return with_type(type_, [&](auto tag) {
    using T = decltype(tag);
    return word_of(rank == owner ? loud<T>(random) : quiet<T>(rank));
  });
}

std::vector<Word> Probe::words(std::size_t element) const {
  std::vector<Word> words;
  words.reserve(static_cast<std::size_t>(ranks_));
  for (int rank = 0; rank < ranks_; ++rank) words.push_back(word(rank, element));
  return words;
}

Probe::Table Probe::table(int rank) const {
  Table table{};
  for (std::size_t slot = 0; slot < period; ++slot) table[slot] = word(rank, slot);
  return table;
}

void Probe::fill(int rank, void* out, std::size_t count) const {
  Table const words = table(rank);
  std::size_t const size = size_of(type_);
  auto* bytes = static_cast<std::byte*>(out);
  for (std::size_t i = 0, slot = 0; i < count; ++i, bytes += size) {
    std::memcpy(bytes, &words[slot], size);
    if (++slot == period) slot = 0;
  }
}

Wrong Probe::compare(Table const& right, void const* data, std::size_t count) const {
  std::size_t const size = size_of(type_);
  auto const* bytes = static_cast<std::byte const*>(data);
  Wrong wrong;
  for (std::size_t i = 0, slot = 0; i < count; ++i, bytes += size) {
    if (std::memcmp(bytes, &right[slot], size) != 0 && wrong.count++ == 0) {
      wrong.first = i;
      std::memcpy(&wrong.observed, bytes, size);
    }
    if (++slot == period) slot = 0;
  }
  return wrong;
}

Wrong Probe::check(void const* data, std::size_t count) const {
  Table right{};
  for (std::size_t slot = 0; slot < period; ++slot) right[slot] = reduce(type_, op(), words(slot));
  return compare(right, data, count);
}

Wrong Probe::check_own(int rank, void const* data, std::size_t count) const {
  return compare(table(rank), data, count);
}

}  // namespace berth::verification
