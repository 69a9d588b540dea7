// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

namespace berth::cpu {

/// Two overlapping moves of `size` bytes; size <= bytes <= 2 * size.
template <std::size_t size>
inline void copy_ends(std::byte* to, std::byte const* from, std::size_t bytes) {
  std::byte head[size];
  std::byte tail[size];
  std::memcpy(head, from, size);
  std::memcpy(tail, from + bytes - size, size);
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): null only without bytes
  std::memcpy(to, head, size);
  std::memcpy(to + bytes - size, tail, size);
}

/// memcpy of at most 64 bytes without a call: on the way of an 8-byte message a call is felt.
inline void copy_line(std::byte* to, std::byte const* from, std::size_t bytes) {
  if (bytes >= 32) {
    copy_ends<32>(to, from, bytes);
  } else if (bytes >= 16) {
    copy_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copy_ends<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_ends<4>(to, from, bytes);
  } else {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): null only without bytes
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace berth::cpu
