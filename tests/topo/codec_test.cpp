// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <topo/codec.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

model::Node sample() {
  return topo::read_xml(std::string(BERTH_FIXTURES) + "/two-sockets-4-gpus.xml");
}

TEST(NodeBytes, SurviveTheRoundTrip) {
  model::Node node = sample();
  node.numa_distance = {{0, 1.5}, {1.5, 0}};
  node.cores[3].kind = 2;
  node.devices[1].uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  node.unused_nics.push_back({"docker0", "virtual"});
  std::string const bytes = topo::encode_node(node);
  model::Node const back = topo::decode_node(bytes);
  EXPECT_EQ(topo::encode_node(back), bytes);
  EXPECT_EQ(back.numa_distance, node.numa_distance);
  EXPECT_EQ(back.devices[3].bridges, node.devices[3].bridges);
  EXPECT_EQ(back.cores[3].kind, 2);
  EXPECT_EQ(back.devices[1].uuid, node.devices[1].uuid);
  ASSERT_EQ(back.unused_nics.size(), node.unused_nics.size());
  EXPECT_EQ(back.unused_nics.back().reason, "virtual");
}

TEST(NodeBytes, AreRefusedWhenCut) {
  std::string const bytes = topo::encode_node(sample());
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_THROW(topo::decode_node(bytes.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(topo::decode_node(bytes + "x"), Error);
}

TEST(NodeBytes, NeverHarmWhateverTheyAre) {
  std::string const good = topo::encode_node(sample());
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same bytes in every run
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    }
    try {
      model::Node const node = topo::decode_node(bytes);
      auto const nodes = static_cast<int>(node.numa_nodes.size());
      for (auto const& core : node.cores) ASSERT_LT(core.numa, nodes);
      for (auto const& device : node.devices) ASSERT_LT(device.numa, nodes);
    } catch (Error const& error) {
      ASSERT_EQ(error.code(), Errc::bad_input);
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace berth
