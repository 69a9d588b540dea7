// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include <cuda_runtime_api.h>

#include "stream.hpp"

namespace berth::standin {

/// Rows of bytes to be copied; a plain copy has one row.
struct Copy {
  void* to;
  void const* from;
  std::size_t width;
  std::size_t height = 1;
  std::size_t to_pitch = 0;
  std::size_t from_pitch = 0;
};

/// Rows of bytes to be set.
struct Fill {
  void* at;
  int value;
  std::size_t width;
  std::size_t height = 1;
  std::size_t pitch = 0;
};

/// Fail for pointers that do not fit `kind` and for ranges that leave their allocation.
Step copy_step(Copy const& copy, cudaMemcpyKind kind);
Step fill_step(Fill const& fill);

/// As cudaMemcpyAsync: memory that is not page-locked is read before this returns, and written
/// before this returns.
void copy_async(Copy const& copy, cudaMemcpyKind kind, Stream& stream);
/// As cudaMemcpy: returns when done, unless both sides are device memory.
void copy_now(Copy const& copy, cudaMemcpyKind kind, Stream& stream);
void fill_async(Fill const& fill, Stream& stream);
void fill_now(Fill const& fill, Stream& stream);

}  // namespace berth::standin
