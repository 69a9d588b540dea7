// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace standin {
namespace {

/// How an element is calculated with: Element is stored, Value is what the arithmetic is done in.
template <typename Element>
struct Plain {
  using Value = Element;
  static Value load(std::byte const* at) {
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static void store(std::byte* at, Value value) { std::memcpy(at, &value, sizeof value); }
  static constexpr std::size_t size = sizeof(Element);
};

struct Half {
  using Value = float;
  static Value load(std::byte const* at) {
    __half_raw raw;
    std::memcpy(&raw.x, at, sizeof raw.x);
    return __half2float(__half(raw));
  }
  static void store(std::byte* at, Value value) {
    __half_raw const raw = __float2half_rn(value);
    std::memcpy(at, &raw.x, sizeof raw.x);
  }
  static constexpr std::size_t size = 2;
};

struct Bfloat {
  using Value = float;
  static Value load(std::byte const* at) {
    __nv_bfloat16_raw raw;
    std::memcpy(&raw.x, at, sizeof raw.x);
    return __bfloat162float(__nv_bfloat16(raw));
  }
  static void store(std::byte* at, Value value) {
    __nv_bfloat16_raw const raw = __float2bfloat16_rn(value);
    std::memcpy(at, &raw.x, sizeof raw.x);
  }
  static constexpr std::size_t size = 2;
};

template <__nv_fp8_interpretation_t kind>
struct Quarter {
  using Value = float;
  static Value load(std::byte const* at) {
    __nv_fp8_storage_t raw = 0;
    std::memcpy(&raw, at, sizeof raw);
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(raw, kind)));
  }
  static void store(std::byte* at, Value value) {
    __nv_fp8_storage_t const raw = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, kind);
    std::memcpy(at, &raw, sizeof raw);
  }
  static constexpr std::size_t size = 1;
};

template <typename Value>
Value combine(ncclRedOp_t op, Value left, Value right) {
  if constexpr (std::is_integral_v<Value>) {
    using Wide = std::make_unsigned_t<std::conditional_t<(sizeof(Value) < 4), int, Value>>;
    if (op == ncclProd)
      return static_cast<Value>(static_cast<Wide>(left) * static_cast<Wide>(right));
    if (op == ncclMax) return std::max(left, right);
    if (op == ncclMin) return std::min(left, right);
    return static_cast<Value>(static_cast<Wide>(left) + static_cast<Wide>(right));
  } else {
    if (op == ncclProd) return left * right;
    if (op == ncclMax) return std::fmax(left, right);
    if (op == ncclMin) return std::fmin(left, right);
    return left + right;
  }
}

template <typename Type>
void reduce_as(Reduction const& reduction, std::vector<std::byte const*> const& contributions,
               std::byte* result, std::size_t count) {
  using Value = typename Type::Value;
  Value factor = 1;
  if (reduction.scaled) {
    factor =
        Type::load(reduction.device == nullptr ? reduction.factor
                                               : static_cast<std::byte const*>(reduction.device));
  }
  auto const ranks = static_cast<Value>(contributions.size());
  auto const load = [&](std::byte const* from, std::size_t i) {
    Value const value = Type::load(from + i * Type::size);
    return reduction.scaled ? combine(ncclProd, value, factor) : value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    Value value = load(contributions.front(), i);
    for (std::size_t rank = 1; rank < contributions.size(); ++rank) {
      value = combine(reduction.op, value, load(contributions[rank], i));
    }
    if (reduction.op == ncclAvg) value = static_cast<Value>(value / ranks);
    Type::store(result + i * Type::size, value);
  }
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

void reduce(Reduction const& reduction, ncclDataType_t type,
            std::vector<std::byte const*> const& contributions, std::byte* result,
            std::size_t count) {
  auto const as = [&](auto kind) {
    reduce_as<decltype(kind)>(reduction, contributions, result, count);
  };
  switch (type) {
    case ncclInt8:
      return as(Plain<std::int8_t>{});
    case ncclUint8:
      return as(Plain<std::uint8_t>{});
    case ncclInt32:
      return as(Plain<std::int32_t>{});
    case ncclUint32:
      return as(Plain<std::uint32_t>{});
    case ncclInt64:
      return as(Plain<std::int64_t>{});
    case ncclUint64:
      return as(Plain<std::uint64_t>{});
    case ncclFloat16:
      return as(Half{});
    case ncclFloat32:
      return as(Plain<float>{});
    case ncclFloat64:
      return as(Plain<double>{});
    case ncclBfloat16:
      return as(Bfloat{});
    case ncclFloat8e4m3:
      return as(Quarter<__NV_E4M3>{});
    case ncclFloat8e5m2:
      return as(Quarter<__NV_E5M2>{});
    default:
      return;
  }
}

}  // namespace standin
