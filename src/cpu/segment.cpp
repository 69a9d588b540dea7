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

Segment::Segment(std::byte* memory, coll::Tuning const& tuning)
    : memory_(memory),
      flat_bytes_(whole_pages(std::max(
          {tuning.flat_bytes_max_2, tuning.flat_bytes_max_4, tuning.flat_bytes_max_many}))),
      slot_bytes_(whole_pages(tuning.slot_bytes)),
      result_bytes_(whole_pages(std::min(tuning.slice_bytes, tuning.slot_bytes))),
      slots_(static_cast<std::uint64_t>(std::max(tuning.ring_slots, 4))),
      slots_offset_(flat_offset + 2 * flat_bytes_),
      results_offset_(slots_offset_ + slots_ * slot_bytes_),
      // The last term staggers the regions: the same place of two ranks must neither fall into the
      // same cache set nor differ by whole pages, or a load of one seems to follow a store to the
      // other in the store buffer.
      region_bytes_(results_offset_ + slots_ * result_bytes_ + page + page / 2 + 128) {}

std::size_t Segment::bytes(int local_size, coll::Tuning const& tuning) {
  return static_cast<std::size_t>(local_size) * Segment(nullptr, tuning).region_bytes_;
}

}  // namespace berth::cpu
