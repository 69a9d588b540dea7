// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include <pattern/pattern.hpp>
#include <pattern/recipe.hpp>

namespace berth::pattern {
namespace {

/// From index to index the hash moves on by the golden section of its range: neighbours differ in
/// the highest bits, which are the ones that are used.
constexpr std::uint32_t step = 0x9e3779b1u;

/// What the chosen rank adds to a sum. With it, and by the capacity of the rest, a sum of floats
/// stays between 2^22 and 2^23 (2^51 and 2^52), where 1/2 still counts.
template <class T>
constexpr T heavy = std::is_same_v<T, float>    ? T(std::int64_t{1} << 22)
                    : std::is_same_v<T, double> ? T(std::int64_t{1} << 51)
                                                : T(std::int64_t{1} << (8 * sizeof(T) - 2));

/// The factors of the chosen rank in a product. Powers of two keep every bit of a damaged float;
/// odd factors keep every bit of a damaged integer, for they have an inverse modulo 2^n.
template <class T>
struct Powers {
  T value[16];
};
template <class T>
constexpr Powers<T> make_powers() {
  Powers<T> powers{};
  T power = 1;
  for (T& value : powers.value) {
    power = static_cast<T>(power * (std::is_integral_v<T> ? 3 : 2));
    value = power;
  }
  return powers;
}
template <class T>
constexpr Powers<T> powers = make_powers<T>();

/// Writes the elements of the block whose first hash is `hash`.
template <class T, Op op>
inline void make_block(Recipe const& recipe, std::uint32_t hash, bool chosen, T* out) {
// Unrolled whole, as eight invites, the loop is not vectorised.
#pragma GCC unroll 1
  for (std::uint32_t place = 0; place < block_elements; ++place) {
    std::uint32_t const h = hash + place * step;
    if constexpr (op == Op::sum) {
      std::uint32_t const mask = (std::uint32_t{1} << recipe.fraction_bits) - 1;
      std::uint32_t const f = h >> (31 - recipe.fraction_bits) & mask;
      auto const light = static_cast<std::int32_t>(f * recipe.factor) + recipe.offset[place];
      T const value = static_cast<T>(light) + (chosen ? heavy<T> : T(0));
      out[place] = h >> 31 != 0 ? -value : value;
    } else if constexpr (op == Op::prod) {
      T const value = chosen ? powers<T>.value[h >> 27 & 15] : T(1);
      std::uint32_t const sign = (h >> 31 & recipe.hash_sign) ^ recipe.sign[place];
      out[place] = sign != 0 ? -value : value;
    } else {
      std::int32_t const least = static_cast<std::int32_t>(h >> 16) - (1 << 15);
      std::int32_t const value = least + (chosen ? 0 : recipe.offset[place]);
      out[place] = static_cast<T>(op == Op::min ? value : -value);
    }
  }
}

/// Goes through the blocks that touch [first, first + count): calls visit(values of the block, how
/// far into the range, first place of the block in the range, elements in the range).
template <class T, Op op, class Visit>
void for_each_block(Recipe const& recipe, std::size_t first, std::size_t count, Visit visit) {
  std::uint64_t block = first / block_elements;
  auto chosen = static_cast<std::uint32_t>((block + recipe.round) % recipe.ranks);
  std::size_t done = 0;
  while (done < count) {
    std::size_t const place = (first + done) % block_elements;
    std::size_t const elements = std::min(block_elements - place, count - done);
    std::uint64_t const index = block * block_elements;
    std::uint32_t const hash = static_cast<std::uint32_t>(index) * step +
                               static_cast<std::uint32_t>(index >> 32) * 0xc2b2ae3du + recipe.seed;
    T values[block_elements];
    make_block<T, op>(recipe, hash, recipe.reduced || chosen == recipe.rank, values);
    visit(values, done, place, elements);
    done += elements;
    ++block;
    if (++chosen == recipe.ranks) chosen = 0;
  }
}

template <class T, Op op>
void fill_as(Recipe const& recipe, void* out, std::size_t first, std::size_t count) {
  auto* const bytes = static_cast<unsigned char*>(out);
  auto const put = [bytes](T const* values, std::size_t at, std::size_t place,
                           std::size_t elements) {
    unsigned char* const to = bytes + at * sizeof(T);
    if (elements == block_elements) {
      std::memcpy(to, values, block_elements * sizeof(T));
    } else {
      std::memcpy(to, values + place, elements * sizeof(T));
    }
  };
  for_each_block<T, op>(recipe, first, count, put);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Adds what differs among `elements` elements to `check`; `at` is the index of the first one.
template <class T>
void note_wrong(Check& check, T const* right, unsigned char const* data, std::size_t at,
                std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    Bits<T> expected, found;
    std::memcpy(&expected, right + i, sizeof expected);
    std::memcpy(&found, data + i * sizeof found, sizeof found);
    if (expected == found) continue;
    if (check.wrong++ == 0) {
      check.first_wrong = at + i;
      check.flipped = expected ^ found;
    }
  }
}

/// Whether a whole block has the right bits.
template <class T>
inline bool same_block(T const* right, unsigned char const* data) {
  Bits<T> expected[block_elements], found[block_elements], difference = 0;
  std::memcpy(expected, right, sizeof expected);
  std::memcpy(found, data, sizeof found);
  for (std::size_t i = 0; i < block_elements; ++i) difference |= expected[i] ^ found[i];
  return difference == 0;
}

template <class T, Op op>
Check check_as(Recipe const& recipe, void const* data, std::size_t first, std::size_t count) {
  Check check;
  auto const* const bytes = static_cast<unsigned char const*>(data);
  auto const compare = [&check, bytes, first](T const* values, std::size_t at, std::size_t place,
                                              std::size_t elements) {
    unsigned char const* const found = bytes + at * sizeof(T);
    if (elements == block_elements && same_block(values, found)) return;
    note_wrong(check, values + place, found, first + at, elements);
  };
  for_each_block<T, op>(recipe, first, count, compare);
  return check;
}

/// Calls `f` with a T and an Op that are known at compile time.
template <class T, class F>
auto with_op(Op op, F f) {
  switch (op) {
    case Op::prod:
      return f.template operator()<T, Op::prod>();
    case Op::min:
      return f.template operator()<T, Op::min>();
    case Op::max:
      return f.template operator()<T, Op::max>();
    case Op::sum:
      break;
  }
  return f.template operator()<T, Op::sum>();
}

template <class F>
auto with(Code const& code, F f) {
  switch (code.type) {
    case Type::int32:
      return with_op<std::int32_t>(code.op, f);
    case Type::int64:
      return with_op<std::int64_t>(code.op, f);
    case Type::float32:
      return with_op<float>(code.op, f);
    case Type::float64:
      break;
  }
  return with_op<double>(code.op, f);
}

/// x op identity is x.
template <class T, Op op>
constexpr T identity() {
  using Limits = std::numeric_limits<T>;
  if (op == Op::sum) return T(0);
  if (op == Op::prod) return T(1);
  T const most = Limits::has_infinity ? Limits::infinity() : Limits::max();
  T const least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return op == Op::min ? most : least;
}

Check check_recipe(Code const& code, Recipe const& recipe, void const* data, std::size_t first,
                   std::size_t count) {
  return with(code, [&]<class T, Op op>() { return check_as<T, op>(recipe, data, first, count); });
}

}  // namespace

void fill(Code const& code, int rank, void* out, std::size_t first, std::size_t count) {
  Recipe const recipe = single_recipe(code, rank);
  with(code, [&]<class T, Op op>() { fill_as<T, op>(recipe, out, first, count); });
}

void fill_identity(Code const& code, void* out, std::size_t count) {
  with(code, [&]<class T, Op op>() {
    T const value = identity<T, op>();
    auto* const bytes = static_cast<unsigned char*>(out);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
  });
}

Check check_reduced(Code const& code, void const* data, std::size_t first, std::size_t count) {
  return check_recipe(code, reduced_recipe(code), data, first, count);
}

Check check_single(Code const& code, int rank, void const* data, std::size_t first,
                   std::size_t count) {
  return check_recipe(code, single_recipe(code, rank), data, first, count);
}

}  // namespace berth::pattern
