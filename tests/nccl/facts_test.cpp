// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl/bootstrap.hpp>

#include <base/error.hpp>

namespace berth::nccl {
namespace {

using testing::HasSubstr;

std::vector<std::string> const hosts = {"n1", "n2"};

Facts facts(int host, std::string const& bus_id, std::string const& uuid = "") {
  Facts facts;
  facts.version = 22809;
  facts.header = 22809;
  facts.host = host;
  bus_id.copy(facts.bus_id, sizeof facts.bus_id - 1);
  uuid.copy(facts.uuid, sizeof facts.uuid - 1);
  return facts;
}

/// Code and text of what is refused; ok and nothing when it is not.
std::pair<Errc, std::string> refusal(std::vector<Facts> const& all, bool allow_comm_id = false) {
  try {
    check_facts(all, hosts, allow_comm_id);
    return {Errc::ok, {}};
  } catch (Error const& error) {
    return {error.code(), error.what()};
  }
}

TEST(Facts, OfDifferentDevicesAreFine) {
  EXPECT_EQ(refusal({facts(0, "0000:07:00.0"), facts(0, "0000:0f:00.0"), facts(1, "0000:07:00.0")}),
            std::pair(Errc::ok, std::string()));
}

TEST(Facts, OfTwoRanksOnOneDeviceNameBoth) {
  auto const [code, text] =
      refusal({facts(0, "0000:07:00.0"), facts(1, "0000:07:00.0"), facts(1, "0000:07:00.0")});
  EXPECT_EQ(code, Errc::no_device);
  EXPECT_THAT(text, HasSubstr("rank 1@n2 and rank 2@n2 both have device 0000:07:00.0"));
  EXPECT_THAT(text, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST(Facts, OfPartsOfOneDeviceAreFine) {
  EXPECT_EQ(refusal({facts(0, "0000:07:00.0", "MIG-1"), facts(0, "0000:07:00.0", "MIG-2")}).first,
            Errc::ok);
}

TEST(Facts, OfOneDeviceAreFineWhereNcclIsToldThatHostsDiffer) {
  Facts second = facts(0, "0000:07:00.0");
  std::strcpy(second.host_id, "other");
  EXPECT_EQ(refusal({facts(0, "0000:07:00.0"), second}).first, Errc::ok);
  Facts third = second;
  EXPECT_EQ(refusal({facts(0, "0000:07:00.0"), second, third}).first, Errc::no_device);
}

TEST(Facts, OfDifferentLibrariesNameBoth) {
  Facts old = facts(1, "0000:07:00.0");
  old.version = 21805;
  auto const [code, text] = refusal({facts(0, "0000:07:00.0"), facts(0, "0000:0f:00.0"), old});
  EXPECT_EQ(code, Errc::mismatch);
  EXPECT_THAT(text, HasSubstr("rank 0@n1 has NCCL 2.28.9, rank 2@n2 has NCCL 2.18.5"));
}

TEST(Facts, WithAnIdFromTheEnvironmentAreRefusedUnlessAllowed) {
  Facts second = facts(1, "0000:07:00.0");
  second.has_comm_id = 1;
  std::vector<Facts> const all = {facts(0, "0000:07:00.0"), second};
  EXPECT_EQ(refusal(all).first, Errc::bad_configuration);
  EXPECT_THAT(refusal(all).second, HasSubstr("rank 1@n2 has NCCL_COMM_ID set"));
  EXPECT_EQ(refusal(all, true).first, Errc::ok);
}

TEST(Blocks, AreOneUpTo128Ranks) {
  EXPECT_EQ(blocks_for(1, true), 1);
  EXPECT_EQ(blocks_for(128, true), 1);
  EXPECT_EQ(blocks_for(129, true), 2);
  EXPECT_EQ(blocks_for(1024, true), 8);
  EXPECT_EQ(blocks_for(1024, false), 1);
}

/// NCCL 2.28.9 hands rank r of n to root r / (n / roots + 1) while that part lasts (init.cc).
int root_of_rank(int rank, int roots, int ranks) {
  int const longer = ranks % roots;
  int const least = ranks / roots;
  int const edge = longer * (least + 1);
  return rank < edge ? rank / (least + 1) : (rank - edge) / least + longer;
}

TEST(Blocks, BeginWhereNcclBeginsThem) {
  for (int ranks = 1; ranks < 600; ranks += 7) {
    for (int blocks = 1; blocks <= std::min(ranks, 9); ++blocks) {
      int block = -1;
      for (int rank = 0; rank < ranks; ++rank) {
        if (root_of_rank(rank, blocks, ranks) == block) continue;
        ++block;
        EXPECT_EQ(first_rank_of(block, blocks, ranks), rank) << ranks << " ranks";
      }
      EXPECT_EQ(block, blocks - 1);
    }
  }
}

TEST(Versions, AreWrittenWithDots) {
  EXPECT_EQ(version_text(22809), "2.28.9");
  EXPECT_EQ(version_text(21805), "2.18.5");
}

}  // namespace
}  // namespace berth::nccl
