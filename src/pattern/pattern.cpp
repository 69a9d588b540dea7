// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include <pattern/pattern.hpp>

// Every operation has a contribution and a closed form of its reduction:
//   sum   base(i) + code(rank); reduced: ranks * base(i) + sum of codes. At most 127 per rank, so
//         that float32 is exact (2^24) up to 132,000 ranks.
//   prod  1, but 2 from two ranks that the index chooses and a sign from a third: +-4, or +-2 * 2.
//   min   base(i) + (rank + i) mod ranks: every rank wins in turn; reduced: base(i).
//   max   the same; reduced: base(i) + ranks - 1.
// base() is a hash of index and round, so that shifted and stale data show.
namespace berth::pattern {

namespace {

constexpr std::uint32_t base_values = 64;

std::uint32_t hash(std::uint32_t index, std::uint32_t seed) {
  std::uint32_t h = index * 2654435761U + seed;
  h ^= h >> 15;
  h *= 0x85ebca6bU;
  h ^= h >> 13;
  h *= 0xc2b2ae35U;
  return h ^ (h >> 16);
}

std::uint32_t base_of(std::uint32_t index, std::uint32_t seed) {
  return hash(index, seed) % base_values;
}

/// What tells ranks apart in a sum.
std::uint32_t code_of(std::uint32_t rank) {
  return 1 + rank * 7 % 63;
}

/// Scales a hash to [0, ranks) without a division.
std::uint32_t choose(std::uint32_t h, std::uint32_t ranks) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(h) * ranks >> 32);
}

/// Everything about a piece of data whose indices agree in their upper 32 bits.
struct Piece {
  std::uint32_t ranks;
  std::uint32_t rank;  ///< unused in the reduced form
  std::uint32_t seed;
  std::uint32_t first;     ///< lower 32 bits of the first index
  std::uint32_t turn;      ///< (rank + first index) mod ranks
  std::uint32_t code_sum;  ///< over all ranks
};

std::int64_t single(Op op, Piece const& piece, std::uint32_t k, std::uint32_t turn) {
  std::uint32_t const index = piece.first + k;
  switch (op) {
    case Op::sum:
      return base_of(index, piece.seed) + code_of(piece.rank);
    case Op::prod: {
      std::uint32_t const h = hash(index, piece.seed);
      std::int64_t value = choose(h, piece.ranks) == piece.rank ? 2 : 1;
      value *= choose(h * 0x9e3779b9U, piece.ranks) == piece.rank ? 2 : 1;
      bool const negative = (h & 1) != 0 && choose(h * 0x7feb352dU, piece.ranks) == piece.rank;
      return negative ? -value : value;
    }
    case Op::min:
    case Op::max:
      break;
  }
  return static_cast<std::int64_t>(base_of(index, piece.seed)) + turn;
}

std::int64_t reduced(Op op, Piece const& piece, std::uint32_t k) {
  std::uint32_t const index = piece.first + k;
  switch (op) {
    case Op::sum:
      return static_cast<std::int64_t>(base_of(index, piece.seed)) * piece.ranks + piece.code_sum;
    case Op::prod:
      return (hash(index, piece.seed) & 1) != 0 ? -4 : 4;
    case Op::min:
      return base_of(index, piece.seed);
    case Op::max:
      break;
  }
  return static_cast<std::int64_t>(base_of(index, piece.seed)) + piece.ranks - 1;
}

/// Calls `body(piece, offset, count)` for pieces of at most 2^20 elements that do not cross a
/// multiple of 2^32.
template <class Body>
void for_pieces(Code const& code, int rank, std::size_t first, std::size_t count, Body&& body) {
  auto const ranks = static_cast<std::uint32_t>(code.ranks);
  std::uint32_t code_sum = 0;
  for (std::uint32_t r = 0; r < ranks; ++r) code_sum += code_of(r);
  constexpr std::size_t most = std::size_t{1} << 20;
  for (std::size_t offset = 0; offset < count;) {
    std::size_t const index = first + offset;
    std::size_t const left = (std::size_t{1} << 32) - (index & 0xffffffffU);
    std::size_t const now = std::min({count - offset, left, most});
    Piece piece{};
    piece.ranks = ranks;
    piece.rank = static_cast<std::uint32_t>(rank);
    piece.seed = hash(code.round, static_cast<std::uint32_t>(index >> 32));
    piece.first = static_cast<std::uint32_t>(index);
    piece.turn = static_cast<std::uint32_t>((index + static_cast<std::size_t>(rank)) % ranks);
    piece.code_sum = code_sum;
    body(piece, offset, static_cast<std::uint32_t>(now));
    offset += now;
  }
}

template <class T>
void fill_piece(Op op, Piece const& piece, char* out, std::uint32_t count) {
  std::uint32_t turn = piece.turn;
  for (std::uint32_t k = 0; k < count; ++k) {
    T const value = static_cast<T>(single(op, piece, k, turn));
    std::memcpy(out + std::size_t{k} * sizeof(T), &value, sizeof value);
    turn = turn + 1 == piece.ranks ? 0 : turn + 1;
  }
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Adds what is wrong in one piece; `expect(k, turn)` is the right value.
template <class T, class Expect>
void check_piece(Piece const& piece, char const* data, std::uint32_t count, std::size_t offset,
                 Check& check, Expect&& expect) {
  std::uint32_t turn = piece.turn;
  for (std::uint32_t k = 0; k < count; ++k) {
    Bits<T> found;
    std::memcpy(&found, data + std::size_t{k} * sizeof(T), sizeof found);
    auto const right = std::bit_cast<Bits<T>>(static_cast<T>(expect(k, turn)));
    if (found != right) {
      if (check.wrong == 0) {
        check.first_wrong = offset + k;
        check.flipped = found ^ right;
      }
      ++check.wrong;
    }
    turn = turn + 1 == piece.ranks ? 0 : turn + 1;
  }
}

/// Calls `body` with a value of the C++ type, so that it can take its type.
template <class Body>
void with_type(Type type, Body&& body) {
  switch (type) {
    case Type::int32:
      return body(std::int32_t{});
    case Type::int64:
      return body(std::int64_t{});
    case Type::float32:
      return body(float{});
    case Type::float64:
      return body(double{});
  }
}

/// Calls `body` with the operation as a constant, so that the loops have no switch inside.
template <class Body>
void with_op(Op op, Body&& body) {
  switch (op) {
    case Op::sum:
      return body(std::integral_constant<Op, Op::sum>{});
    case Op::prod:
      return body(std::integral_constant<Op, Op::prod>{});
    case Op::min:
      return body(std::integral_constant<Op, Op::min>{});
    case Op::max:
      return body(std::integral_constant<Op, Op::max>{});
  }
}

template <class T>
T identity(Op op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case Op::sum:
      return T{0};
    case Op::prod:
      return T{1};
    case Op::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Op::max:
      break;
  }
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

}  // namespace

void fill(Code const& code, int rank, void* out, std::size_t first, std::size_t count) {
  with_type(code.type, [&](auto zero) {
    using T = decltype(zero);
    with_op(code.op, [&](auto op) {
      for_pieces(code, rank, first, count,
                 [&](Piece const& piece, std::size_t offset, std::uint32_t now) {
                   fill_piece<T>(op, piece, static_cast<char*>(out) + offset * sizeof(T), now);
                 });
    });
  });
}

void fill_identity(Code const& code, void* out, std::size_t count) {
  with_type(code.type, [&](auto zero) {
    using T = decltype(zero);
    T const value = identity<T>(code.op);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(out) + i * sizeof(T), &value, sizeof value);
    }
  });
}

Check check_reduced(Code const& code, void const* data, std::size_t first, std::size_t count) {
  Check check;
  with_type(code.type, [&](auto zero) {
    using T = decltype(zero);
    with_op(code.op, [&](auto op) {
      for_pieces(
          code, 0, first, count, [&](Piece const& piece, std::size_t offset, std::uint32_t now) {
            check_piece<T>(piece, static_cast<char const*>(data) + offset * sizeof(T), now,
                           first + offset, check,
                           [&](std::uint32_t k, std::uint32_t) { return reduced(op, piece, k); });
          });
    });
  });
  return check;
}

Check check_single(Code const& code, int rank, void const* data, std::size_t first,
                   std::size_t count) {
  Check check;
  with_type(code.type, [&](auto zero) {
    using T = decltype(zero);
    with_op(code.op, [&](auto op) {
      for_pieces(code, rank, first, count,
                 [&](Piece const& piece, std::size_t offset, std::uint32_t now) {
                   check_piece<T>(piece, static_cast<char const*>(data) + offset * sizeof(T), now,
                                  first + offset, check, [&](std::uint32_t k, std::uint32_t turn) {
                                    return single(op, piece, k, turn);
                                  });
                 });
    });
  });
  return check;
}

}  // namespace berth::pattern
