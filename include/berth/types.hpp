// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

/// Element types of collectives. Values are ABI: append only.
enum class Type : std::uint8_t {
  int32 = 0,
  int64 = 1,
  float32 = 2,
  float64 = 3,
  int8 = 4,
  uint8 = 5,
  uint32 = 6,
  uint64 = 7,
  float16 = 8,  ///< IEEE binary16
  bfloat16 = 9  ///< the upper half of a float32
};
/// Number of element types.
inline constexpr int type_count = 10;

/// Element-wise operations. Values are ABI: append only.
/// Integers wrap. `avg` is the sum divided by the number of ranks; of integers the wrapped sum,
/// divided and truncated towards zero. 16-bit floats are reduced in float32, also between hosts,
/// and rounded once. On the cpu backend min and max give NaN when any rank holds one, and order -0
/// before +0 (MPI itself promises neither).
enum class Op : std::uint8_t { sum = 0, prod = 1, min = 2, max = 3, avg = 4 };
/// Number of operations.
inline constexpr int op_count = 5;

/// What carries the data. `automatic` chooses, `cpu` is shared memory inside a node and MPI
/// point-to-point between nodes, `mpi` is the naive reference (MPI's own collectives), `nccl` is
/// NCCL for device memory beside the cpu backend for host memory.
enum class Backend : std::uint8_t { automatic = 0, cpu = 1, mpi = 2, nccl = 3 };

/// A 16-bit float as memory holds it: 1 bit of sign, 5 of exponent, 10 of fraction. Plain data; its
/// arithmetic is the collectives' business.
struct float16 {
  std::uint16_t bits;  ///< of the IEEE binary16 format
};
/// The upper half of a float32: 1 bit of sign, 8 of exponent, 7 of fraction. Plain data.
struct bfloat16 {
  std::uint16_t bits;  ///< the upper 16 of a float32
};

/// Bytes of one element of `type`; 0 for a value that is no Type. Local.
constexpr std::size_t size_of(Type type) noexcept {
  switch (type) {
    case Type::int8:
    case Type::uint8:
      return 1;
    case Type::float16:
    case Type::bfloat16:
      return 2;
    case Type::int32:
    case Type::uint32:
    case Type::float32:
      return 4;
    case Type::int64:
    case Type::uint64:
    case Type::float64:
      return 8;
  }
  return 0;
}

/// Maps a C++ type to its Type; only the element types have a `value`.
template <class T>
struct type_of;
/// int8
template <>
struct type_of<std::int8_t> {
  static constexpr Type value = Type::int8;
};
/// uint8
template <>
struct type_of<std::uint8_t> {
  static constexpr Type value = Type::uint8;
};
/// int32
template <>
struct type_of<std::int32_t> {
  static constexpr Type value = Type::int32;
};
/// uint32
template <>
struct type_of<std::uint32_t> {
  static constexpr Type value = Type::uint32;
};
/// int64
template <>
struct type_of<std::int64_t> {
  static constexpr Type value = Type::int64;
};
/// uint64
template <>
struct type_of<std::uint64_t> {
  static constexpr Type value = Type::uint64;
};
/// float16
template <>
struct type_of<float16> {
  static constexpr Type value = Type::float16;
};
/// bfloat16
template <>
struct type_of<bfloat16> {
  static constexpr Type value = Type::bfloat16;
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
