// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <cpu/segment.hpp>
#include <cpu/topology.hpp>

namespace berth::cpu::test {
namespace {

TEST(Segment, StaysWithinFourMebibytesPerRank) {
  for (int ranks : {1, 2, 3, 8, 33, 128, 400}) {
    EXPECT_LE(Segment::bytes(ranks, {}), static_cast<std::size_t>(ranks) * 4 * 1024 * 1024);
  }
}

TEST(Segment, GivesEveryRankAndPurposeItsOwnLines) {
  coll::Tuning const tuning;
  auto* const base = static_cast<std::byte*>(nullptr) + 4096;
  Segment const segment(base, tuning);
  std::vector<std::pair<std::byte*, std::size_t>> parts;
  for (int rank = 0; rank < 3; ++rank) {
    for (unsigned parity : {0U, 1U}) {
      parts.emplace_back(reinterpret_cast<std::byte*>(segment.line(rank, parity)), sizeof(Line));
      parts.emplace_back(segment.flat(rank, parity), segment.flat_bytes());
    }
    for (Mark mark : {Mark::copied, Mark::reduced, Mark::taken}) {
      parts.emplace_back(reinterpret_cast<std::byte*>(&segment.mark(rank, mark)), 64);
    }
    for (std::uint64_t block = 0; block < segment.slots(); ++block) {
      parts.emplace_back(segment.slot(rank, block), segment.slot_bytes());
      parts.emplace_back(segment.result(rank, block), segment.result_bytes());
    }
  }
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(parts[i].first) % 64);
    if (i == 0) continue;
    EXPECT_LE(parts[i - 1].first + parts[i - 1].second, parts[i].first);
  }
  EXPECT_LE(parts.back().first + parts.back().second, base + Segment::bytes(3, tuning));
}

TEST(Topology, FindsRanksByHostAndPlace) {
  Topology const topology({{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}});
  EXPECT_EQ(2, topology.hosts());
  EXPECT_EQ(2, topology.lanes());
  EXPECT_EQ(3, topology.local_size(0));
  EXPECT_EQ(3, topology.rank(1, 1));
  EXPECT_EQ(4, topology.rank(0, 2));
}

TEST(Topology, RefusesHolesAndDuplicates) {
  EXPECT_THROW(Topology({{0, 0}, {2, 0}}), Error);
  EXPECT_THROW(Topology({{0, 0}, {0, 2}}), Error);
  EXPECT_THROW(Topology({{0, 0}, {0, 0}}), Error);
  EXPECT_THROW(Topology({{-1, 0}}), Error);
}

}  // namespace
}  // namespace berth::cpu::test
