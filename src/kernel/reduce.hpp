// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <berth/types.hpp>

/// Reductions over plain memory. Pure: no allocation, no state, no system call. Every instruction
/// set gives bitwise the same result, because an element is always reduced in source order, and
/// because a NaN that two or more sources give is always the positive quiet one without payload. A
/// lone source is copied as it is. min and max order -0 before +0.
namespace berth::kernel {

/// 16-bit floats are widened to float32, reduced there and rounded once (to nearest, ties to even).
/// An average is a sum until it is divided: who has all the contributions averages at once, who has
/// those of a host makes a wide part, combines the parts as wide_type() and finishes.

/// What partial results of a type are kept as: float32 for 16-bit floats, else the type itself.
constexpr Type wide_type(Type type) {
  return type == Type::float16 || type == Type::bfloat16 ? Type::float32 : type;
}

/// out[i] = sources[0][i] op sources[1][i] op ... for i < count.
/// Unaligned pointers are fine. `out` may equal any of the sources; no other overlap.
using ReduceFunction = void (*)(void* out, void const* const* sources, int source_count,
                                std::size_t count);
/// As ReduceFunction, and stores every result twice (`out` and `copy`). `copy`, too, may equal any
/// of the sources.
using ReduceTwiceFunction = void (*)(void* out, void* copy, void const* const* sources,
                                     int source_count, std::size_t count);
/// out[i] = (sources[0][i] + sources[1][i] + ...) / ranks; overlap as ReduceFunction. One source is
/// divided too.
using AverageFunction = void (*)(void* out, void const* const* sources, int source_count,
                                 std::size_t count, int ranks);
/// out[i] = the type's value of wide[i] / ranks; ranks == 1: no division. `wide` holds elements of
/// wide_type(). `out` may equal `wide` (16-bit results then fill its first half); no other overlap.
using FinishFunction = void (*)(void* out, void const* wide, std::size_t count, int ranks);
/// memcpy whose stores bypass the cache (followed by a store fence).
using StreamCopyFunction = void (*)(void* out, void const* in, std::size_t bytes);

/// The functions of one instruction set, by Type and Op. The column of avg is that of sum.
struct Kernels {
  char const* name;  ///< "baseline", "avx2", "avx512", "neon"
  ReduceFunction reduce[type_count][op_count];
  ReduceTwiceFunction reduce_twice[type_count][op_count];  ///< `copy` is stored around the cache
  ReduceFunction reduce_stream[type_count][op_count];      ///< `out` is stored around the cache
  /// As `reduce`, but `out` holds elements of wide_type(); it overlaps a source only where the two
  /// types are the same. A lone source is widened.
  ReduceFunction reduce_wide[type_count][op_count];
  AverageFunction average[type_count];
  FinishFunction finish[type_count];
  StreamCopyFunction stream_copy;
};

/// The fastest set this processor has. Local, cheap: remember the result.
Kernels const& best();
/// A set by name; null when this processor or build does not have it.
Kernels const* find(char const* name);

}  // namespace berth::kernel
