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

/// out[i] = sources[0][i] op sources[1][i] op ... for i < count.
/// Unaligned pointers are fine. `out` may equal any of the sources; no other overlap.
using ReduceFunction = void (*)(void* out, void const* const* sources, int source_count,
                                std::size_t count);
/// As ReduceFunction, and stores every result twice (`out` and `copy`). `copy`, too, may equal any
/// of the sources.
using ReduceTwiceFunction = void (*)(void* out, void* copy, void const* const* sources,
                                     int source_count, std::size_t count);
/// memcpy whose stores bypass the cache (followed by a store fence).
using StreamCopyFunction = void (*)(void* out, void const* in, std::size_t bytes);

/// The functions of one instruction set.
struct Kernels {
  char const* name;                        ///< "baseline", "avx2", "avx512"
  ReduceFunction reduce[4][4];             ///< [Type][Op]
  ReduceTwiceFunction reduce_twice[4][4];  ///< `copy` is stored around the cache
  ReduceFunction reduce_stream[4][4];      ///< `out` is stored around the cache
  StreamCopyFunction stream_copy;
};

/// The fastest set this processor has. Local, cheap: remember the result.
Kernels const& best();
/// A set by name; null when this processor or build does not have it.
Kernels const* find(char const* name);

}  // namespace berth::kernel
