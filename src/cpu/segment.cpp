// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cpu/segment.hpp>

namespace berth::cpu {
namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) {
  return std::max(page, (bytes + page - 1) / page * page);
}

}  // namespace

Segment::Segment(std::byte* memory, coll::Tuning const& tuning) : memory_(memory),

}  // namespace berth::cpu
