// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <place/place.hpp>

namespace berth {
namespace {

Placement sample() {
  Placement placement;
  placement.host = 3;
  placement.local_rank = 1;
  placement.local_size = 8;
  placement.device = "0000:1b:00.0";
  placement.partition = 6;
  placement.numa_node = 0;
  placement.cpus = "0-13,112-125";
  placement.cores = 14;
  placement.memory_nodes = {0, 2};
  placement.nics = {"mlx5_0", "odd;name=%\n,x"};
  placement.nic_path = "PIX";
  placement.flags = {"cpu-shared", "rebound"};
  placement.reason = "device 0 of 8 by bus id; 14 of 56 local cores";
  placement.cost = 340.125;
  return placement;
}

void expect_equal(Placement const& a, Placement const& b) {
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.local_rank, b.local_rank);
  EXPECT_EQ(a.local_size, b.local_size);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.partition, b.partition);
  EXPECT_EQ(a.numa_node, b.numa_node);
  EXPECT_EQ(a.cpus, b.cpus);
  EXPECT_EQ(a.cores, b.cores);
  EXPECT_EQ(a.memory_nodes, b.memory_nodes);
  EXPECT_EQ(a.nics, b.nics);
  EXPECT_EQ(a.nic_path, b.nic_path);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.cost, b.cost);
}

TEST(PlacementText, SurvivesTheRoundTrip) {
  expect_equal(place::decode(place::encode(sample())), sample());
  expect_equal(place::decode(place::encode(Placement{})), Placement{});
  Placement odd;
  odd.nics = {""};
  odd.cost = 1.0 / 3.0;
  expect_equal(place::decode(place::encode(odd)), odd);
}

TEST(PlacementText, IsOneLine) {
  EXPECT_EQ(place::encode(sample()).find('\n'), std::string::npos);
}

TEST(PlacementText, OfAnotherKindIsRefused) {
  std::string const good = place::encode(sample());
  EXPECT_THROW(place::decode(""), Error);
  EXPECT_THROW(place::decode("nonsense"), Error);
  EXPECT_THROW(place::decode(good + ";1"), Error);
  EXPECT_THROW(place::decode("x" + good), Error);
  // Cut anywhere but inside the last number, nothing is left that could be meant.
  for (std::size_t size = 0; size < good.rfind(';'); ++size) {
    EXPECT_THROW(place::decode(good.substr(0, size)), Error) << size;
  }
  try {
    place::decode("nonsense");
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::internal);
  }
}

}  // namespace
}  // namespace berth
