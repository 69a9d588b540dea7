// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

/// Element types of collectives. Values are ABI: append only.
enum class Type : std::uint8_t { int32 = 0, int64 = 1, float32 = 2, float64 = 3 };

/// Element-wise operations. Values are ABI: append only.
/// Integers wrap; on the cpu backend min and max give NaN when any rank holds one, and order -0
/// before +0 (MPI itself promises neither).
enum class Op : std::uint8_t { sum = 0, prod = 1, min = 2, max = 3 };

/// What carries the data. `automatic` chooses, `cpu` is shared memory inside a node and MPI
/// point-to-point between nodes, `mpi` is the naive reference (MPI's own collectives).
enum class Backend : std::uint8_t { automatic = 0, cpu = 1, mpi = 2 };

/// Bytes of one element of `type`. Local.
constexpr std::size_t size_of(Type type) noexcept {
  return type == Type::int32 || type == Type::float32 ? 4 : 8;
}

/// Maps a C++ type to its Type; only the four element types have a `value`.
template <class T>
struct type_of;
/// int32
template <>
struct type_of<std::int32_t> {
  static constexpr Type value = Type::int32;
};
/// int64
template <>
struct type_of<std::int64_t> {
  static constexpr Type value = Type::int64;
};
/// float32
template <>
struct type_of<float> {
  static constexpr Type value = Type::float32;
};
/// float64
template <>
struct type_of<double> {
  static constexpr Type value = Type::float64;
};

}  // namespace berth
