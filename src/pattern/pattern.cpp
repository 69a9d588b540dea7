// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include <pattern/element.hpp>
#include <pattern/pattern.hpp>
#include <pattern/recipe.hpp>

namespace berth::pattern {
namespace {

/// From index to index the hash moves on by the golden section of its range: neighbours differ in
/// the highest bits, which are the ones that are used.
constexpr std::uint32_t step = 0x9e3779b1u;

constexpr std::uint16_t infinite_16 = 0x7c00;
constexpr std::uint16_t minus_infinite_16 = 0xfc00;
constexpr std::uint16_t infinite_b16 = 0x7f80;
constexpr std::uint16_t minus_infinite_b16 = 0xff80;

/// What an average is divided by: signed for signed integers, or the quotient would be unsigned.
template <class V>
using Divisor =
    std::conditional_t<std::is_floating_point_v<V>, V,
                       std::conditional_t<std::is_signed_v<V>, std::int64_t, std::uint64_t>>;

/// What the chosen rank adds to a sum. With it, and by the capacity of the rest, a sum of floats
/// stays in one binade, where every unit still counts.
template <class E>
constexpr Value<E> heavy = static_cast<Value<E>>(std::uint64_t{1} << exact_bits<E>);

/// The factors of the chosen rank in a product. Powers of two keep every bit of a damaged float;
/// odd factors keep every bit of a damaged integer, for they have an inverse modulo 2^n.
template <class E>
struct Powers {
  Value<E> value[16];
};
template <class E>
constexpr Powers<E> make_powers() {
  using V = Value<E>;
  Powers<E> powers{};
  // A float16 ends before 2^16.
  constexpr int different = std::is_same_v<E, float16> ? 14 : 16;
  V power = 1;
  for (int i = 0; i < 16; ++i) {
    power = i % different == 0 ? V(1) : power;
    power = static_cast<V>(power * (std::is_integral_v<V> ? 3 : 2));
    powers.value[i] = power;
  }
  return powers;
}
template <class E>
constexpr Powers<E> powers = make_powers<E>();

/// The own value with the other sign; unsigned ones wrap, as their sums do.
template <class V>
inline V negated(V value) {
  return static_cast<V>(V(0) - value);
}

template <class E, Op op>
inline Value<E> sum_value(Recipe const& recipe, std::uint32_t h, bool chosen, std::uint32_t place) {
  using V = Value<E>;
  std::uint32_t const mask = (std::uint32_t{1} << recipe.fraction_bits) - 1;
  std::uint32_t const f = h >> (31 - recipe.fraction_bits) & mask;
  auto const light = static_cast<std::int32_t>(f * recipe.factor) + recipe.offset[place];
  V const value = static_cast<V>(static_cast<V>(light) + (chosen ? heavy<E> : V(0)));
  V const total = h >> 31 != 0 ? negated(value) : value;
  if constexpr (op != Op::avg) return total;
  return recipe.reduced ? static_cast<V>(total / static_cast<Divisor<V>>(recipe.ranks)) : total;
}

/// Writes the elements of the block whose first hash is `hash`.
template <class E, Op op>
inline void make_block(Recipe const& recipe, std::uint32_t hash, bool chosen, E* out) {
  using V = Value<E>;
// Unrolled whole, as eight invites, the loop is not vectorised.
#pragma GCC unroll 1
  for (std::uint32_t place = 0; place < block_elements; ++place) {
    std::uint32_t const h = hash + place * step;
    if constexpr (op == Op::sum || op == Op::avg) {
      out[place] = stored<E>(sum_value<E, op>(recipe, h, chosen, place));
    } else if constexpr (op == Op::prod) {
      V const value = chosen ? powers<E>.value[h >> 27 & 15] : V(1);
      std::uint32_t const sign = (h >> 31 & recipe.hash_sign) ^ recipe.sign[place];
      out[place] = stored<E>(sign != 0 ? negated(value) : value);
    } else {
      constexpr int bits = order_bits<E>;
      constexpr std::int32_t middle = std::is_unsigned_v<V> ? 0 : 1 << (bits - 1);
      std::int32_t const least = static_cast<std::int32_t>(h >> (32 - bits)) - middle;
      std::int32_t const own = least + (chosen ? 0 : recipe.offset[place]);
      auto const value = static_cast<V>(own);
      V const mirrored =
          std::is_unsigned_v<V> ? static_cast<V>(negated(value) - V(1)) : negated(value);
      out[place] = stored<E>(op == Op::min ? value : mirrored);
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
using Bits = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

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
      check.flipped = static_cast<Bits<T>>(expected ^ found);
    }
  }
}

/// Whether a whole block has the right bits.
template <class T>
inline bool same_block(T const* right, unsigned char const* data) {
  Bits<T> expected[block_elements], found[block_elements];
  Bits<T> difference = 0;
  std::memcpy(expected, right, sizeof expected);
  std::memcpy(found, data, sizeof found);
  for (std::size_t i = 0; i < block_elements; ++i)
    difference = static_cast<Bits<T>>(difference | (expected[i] ^ found[i]));
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
    case Op::avg:
      return f.template operator()<T, Op::avg>();
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
    case Type::int8:
      return with_op<std::int8_t>(code.op, f);
    case Type::uint8:
      return with_op<std::uint8_t>(code.op, f);
    case Type::uint32:
      return with_op<std::uint32_t>(code.op, f);
    case Type::uint64:
      return with_op<std::uint64_t>(code.op, f);
    case Type::float16:
      return with_op<float16>(code.op, f);
    case Type::bfloat16:
      return with_op<bfloat16>(code.op, f);
    case Type::float32:
      return with_op<float>(code.op, f);
    case Type::float64:
      break;
  }
  return with_op<double>(code.op, f);
}

/// x op identity is x.
template <class E, Op op>
E identity() {
  using V = Value<E>;
  using Limits = std::numeric_limits<V>;
  if (op == Op::sum || op == Op::avg) return stored<E>(V(0));
  if (op == Op::prod) return stored<E>(V(1));
  if constexpr (std::is_same_v<E, float16>)
    return {op == Op::min ? infinite_16 : minus_infinite_16};
  if constexpr (std::is_same_v<E, bfloat16>)
    return {op == Op::min ? infinite_b16 : minus_infinite_b16};
  if constexpr (!is_half<E>) {
    V const most = Limits::has_infinity ? Limits::infinity() : Limits::max();
    V const least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return op == Op::min ? most : least;
  }
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
