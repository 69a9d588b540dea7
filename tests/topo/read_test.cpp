// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/affinity.hpp>
#include <sys/host.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

using testing::ElementsAre;

model::Node fixture(std::string const& name) {
  return topo::read_xml(std::string(BERTH_FIXTURES) + "/" + name);
}

std::vector<std::string> bus_ids(model::Node const& node) {
  std::vector<std::string> all;
  for (auto const& device : node.devices) all.push_back(device.bus_id);
  return all;
}

std::vector<std::string> nic_names(model::Node const& node) {
  std::vector<std::string> all;
  for (auto const& nic : node.nics) all.push_back(nic.name);
  return all;
}

TEST(RecordedMachine, HasCoresWithPackageMemoryAndCache) {
  model::Node const node = fixture("two-sockets-4-gpus.xml");
  EXPECT_EQ(node.host, "two-sockets-4-gpus");
  EXPECT_EQ(node.packages, 2);
  ASSERT_EQ(node.cores.size(), 16U);
  EXPECT_EQ(node.cores[0].pus, (model::PuSet{0, 2}));
  EXPECT_EQ(node.cores[1].pus, (model::PuSet{4, 6}));
  EXPECT_EQ(node.cores[0].l3, 0);
  EXPECT_EQ(node.cores[15].l3, 3);
  EXPECT_EQ(node.cores[15].package, 1);
  EXPECT_EQ(node.cores[15].numa, 1);
  ASSERT_EQ(node.numa_nodes.size(), 2U);
  EXPECT_EQ(node.numa_nodes[1].memory_bytes, 64UL << 30);
  EXPECT_EQ(node.numa_nodes[1].pus.size(), 16U);
  EXPECT_EQ(sys::format_cpulist(node.allowed), "0-31");
}

TEST(RecordedMachine, HasItsGpusInBusOrderAndNothingElse) {
  model::Node const node = fixture("two-sockets-4-gpus.xml");
  EXPECT_THAT(bus_ids(node),
              ElementsAre("0000:13:00.0", "0000:23:00.0", "0000:83:00.0", "0000:93:00.0"));
  EXPECT_EQ(node.devices[2].vendor, "10de");
  EXPECT_EQ(node.devices[2].model, "H100 SXM5 80GB");
  EXPECT_EQ(node.devices[2].numa, 1);
  EXPECT_EQ(node.devices[2].package, 1);
  EXPECT_EQ(node.devices[2].local_pus, node.numa_nodes[1].pus);
  EXPECT_THAT(node.devices[2].bridges,
              ElementsAre("0000:82:00.0", "0000:81:00.0", "0000:80:01.0", "host0000:80"));
}

TEST(RecordedMachine, HasTheCardsThatCanBeUsed) {
  model::Node const node = fixture("two-sockets-4-gpus.xml");
  EXPECT_THAT(nic_names(node), ElementsAre("eno1", "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"));
  EXPECT_FALSE(node.nics[0].fabric);
  EXPECT_TRUE(node.nics[1].fabric);
  EXPECT_EQ(node.nics[4].numa, 1);
  EXPECT_EQ(node.nics[4].bus_id, "0000:94:00.0");
}

TEST(RecordedMachine, KeepsPartitionsOfOneDeviceApart) {
  model::Node const node = fixture("four-numa-partitions.xml");
  EXPECT_THAT(bus_ids(node),
              ElementsAre("0000:40:00.0", "0000:40:00.0", "0000:40:00.0", "0000:c0:00.0"));
  EXPECT_EQ(node.devices[1].partition, 1);
  EXPECT_EQ(node.devices[2].partition, 2);
  EXPECT_EQ(node.devices[3].partition, 0);
  EXPECT_EQ(node.devices[0].numa, 3);
  EXPECT_EQ(node.devices[3].numa, 1);
  EXPECT_THAT(nic_names(node), ElementsAre("hsn0"));
  EXPECT_TRUE(node.nics[0].fabric);
}

TEST(RecordedMachine, KeepsWhatTheCgroupForbidsButMarksIt) {
  model::Node const node = fixture("cpu-restricted.xml");
  EXPECT_EQ(node.cores.size(), 8U);
  EXPECT_EQ(sys::format_cpulist(node.allowed), "2-7");
  ASSERT_EQ(node.nics.size(), 1U);
  EXPECT_EQ(node.nics[0].numa, -1);
}

TEST(LiveMachine, ContainsTheProcessorsWeRunOn) {
  model::Node const node = topo::read_live();
  EXPECT_EQ(node.host, sys::host_identity().name);
  ASSERT_FALSE(node.cores.empty());
  model::PuSet all;
  for (auto const& core : node.cores) {
    all.insert(all.end(), core.pus.begin(), core.pus.end());
    EXPECT_GE(core.package, 0);
  }
  std::sort(all.begin(), all.end());
  for (int const pu : sys::get_affinity()) {
    EXPECT_TRUE(std::binary_search(all.begin(), all.end(), pu)) << pu;
    EXPECT_TRUE(std::binary_search(node.allowed.begin(), node.allowed.end(), pu)) << pu;
  }
}

TEST(LiveMachine, BelievesTheSysfsThatItIsGivenForLinkStates) {
  // Under an empty root no interface is up; fabric cards keep what hwloc knows of them.
  model::Node const node = topo::read_live({"/nonexistent-root"});
  for (auto const& nic : node.nics) EXPECT_TRUE(nic.fabric) << nic.name;
}

}  // namespace
}  // namespace berth
