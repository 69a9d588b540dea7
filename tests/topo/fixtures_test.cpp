// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/affinity.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

using testing::ElementsAre;

model::Node fixture(std::string const& name) {
  return topo::read_xml(std::string(BERTH_FIXTURES) + "/" + name);
}

template <class Items, class Member>
auto all(Items const& items, Member member) {
  std::vector<std::decay_t<decltype(items[0].*member)>> values;
  for (auto const& item : items) values.push_back(item.*member);
  return values;
}

std::vector<std::string> subtypes(model::Node const& node) {
  return all(node.numa_nodes, &model::NumaNode::subtype);
}

TEST(EdgeCase, HybridCoresHaveClassesByTheirSpeed) {
  model::Node const node = fixture("hybrid-cores.xml");
  // Four slow cores and four that are three per cent faster are one class.
  EXPECT_THAT(all(node.cores, &model::Core::kind), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(EdgeCase, CoresOfOneSpeedHaveNoClasses) {
  for (auto const& core : fixture("two-sockets-4-gpus.xml").cores) EXPECT_EQ(core.kind, 0);
}

TEST(EdgeCase, HighBandwidthMemoryBesideDramIsNamed) {
  EXPECT_THAT(subtypes(fixture("hbm-beside-dram.xml")), ElementsAre("", "HBM", "", "HBM"));
  EXPECT_THAT(subtypes(fixture("hbm-without-name.xml")), ElementsAre("", "HBM", "", "HBM"));
  EXPECT_THAT(subtypes(fixture("hbm-beside-dram-hwloc1.xml")),
              ElementsAre("", "MCDRAM", "", "MCDRAM"));
  for (char const* name :
       {"hbm-beside-dram.xml", "hbm-without-name.xml", "hbm-beside-dram-hwloc1.xml"}) {
    model::Node const node = fixture(name);
    EXPECT_THAT(all(node.cores, &model::Core::numa), ElementsAre(0, 0, 0, 0, 2, 2, 2, 2)) << name;
    EXPECT_EQ(node.numa_nodes[1].pus, node.numa_nodes[0].pus) << name;
  }
}

TEST(EdgeCase, HighBandwidthMemoryAloneIsTheMemoryOfItsCores) {
  model::Node const node = fixture("hbm-only.xml");
  EXPECT_THAT(subtypes(node), ElementsAre("HBM", "HBM"));
  EXPECT_THAT(all(node.cores, &model::Core::numa), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(EdgeCase, MemoryOfGpusHasNoProcessors) {
  for (char const* name : {"gpu-memory-nodes-hwloc1.xml", "grace-gpu-memory.xml"}) {
    model::Node const node = fixture(name);
    EXPECT_THAT(subtypes(node), ElementsAre("", "", "GPUMemory", "GPUMemory")) << name;
    EXPECT_TRUE(node.numa_nodes[2].pus.empty()) << name;
    EXPECT_TRUE(node.numa_nodes[3].pus.empty()) << name;
    EXPECT_THAT(all(node.devices, &model::Device::numa), ElementsAre(0, 1)) << name;
    EXPECT_THAT(all(node.devices, &model::Device::package), ElementsAre(0, 1)) << name;
  }
}

TEST(EdgeCase, CoresOfANodeWithoutMemoryUseTheNearestMemory) {
  model::Node const node = fixture("node-without-memory.xml");
  EXPECT_EQ(node.numa_nodes[1].memory_bytes, 0U);
  ASSERT_EQ(node.numa_distance.size(), 4U);
  EXPECT_THAT(all(node.cores, &model::Core::numa), ElementsAre(0, 0, 0, 0, 2, 2, 3, 3));
}

TEST(EdgeCase, UnknownLocalityStaysUnknown) {
  model::Node const node = fixture("no-locality.xml");
  ASSERT_EQ(node.devices.size(), 4U);
  for (auto const& device : node.devices) {
    EXPECT_EQ(device.numa, -1);
    EXPECT_EQ(device.package, -1);
    EXPECT_TRUE(device.local_pus.empty());
  }
  for (auto const& nic : node.nics) EXPECT_EQ(nic.numa, -1) << nic.name;
}

TEST(EdgeCase, DevicesAreGpusAndAcceleratorsOnly) {
  model::Node const node = fixture("device-kinds.xml");
  EXPECT_THAT(all(node.devices, &model::Device::bus_id),
              ElementsAre("0000:11:00.0", "0000:12:00.0", "0000:13:00.0", "0000:14:00.0",
                          "0000:15:00.0", "0000:16:00.0"));
  EXPECT_THAT(all(node.devices, &model::Device::vendor),
              ElementsAre("10de", "10de", "1002", "1002", "8086", "1da3"));
  EXPECT_THAT(all(node.devices, &model::Device::uuid),
              ElementsAre("GPU-01234567-89ab-cdef-0123-456789abcdef", "", "4a7c19da329a2b8c", "",
                          "0100d50b-8680-0000-0f00-000000000000", ""));
  EXPECT_EQ(node.devices[0].model, "NVIDIA H100 80GB HBM3");
}

TEST(EdgeCase, CardsAreFabricFirstAndTheRestHasReasons) {
  model::Node const node = fixture("nic-kinds.xml");
  EXPECT_THAT(all(node.nics, &model::Nic::name),
              ElementsAre("eno1", "hfi1_0", "hsi0", "hsn0", "hsn7", "mlx5_0", "qib0", "rdmap20s0"));
  EXPECT_THAT(all(node.nics, &model::Nic::fabric),
              ElementsAre(false, true, true, true, false, true, true, true));
  EXPECT_THAT(all(node.unused_nics, &model::UnusedNic::name),
              ElementsAre("docker0", "ib0", "ib1", "lo", "mlx5_1", "mlx5_2", "rxe0", "veth12ab"));
  EXPECT_THAT(
      all(node.unused_nics, &model::UnusedNic::reason),
      ElementsAre("virtual", "the interface of mlx5_0", "the interface of mlx5_1", "virtual",
                  "port 1 is down", "port 1 is initializing", "virtual", "virtual"));
}

TEST(EdgeCase, ARestrictedMachineKeepsWhereItsDevicesHang) {
  model::Node const one = fixture("restricted-to-one-socket.xml");
  EXPECT_EQ(sys::format_cpulist(one.allowed), "0-3");
  EXPECT_THAT(all(one.devices, &model::Device::numa), ElementsAre(0, 1));
  EXPECT_THAT(all(one.devices, &model::Device::package), ElementsAre(0, 1));
  EXPECT_TRUE(one.devices[1].local_pus.empty());
  model::Node const old = fixture("one-socket-allowed-hwloc1.xml");
  EXPECT_EQ(old.packages, 1);
  EXPECT_EQ(old.numa_nodes.at(0).os_index, 1);
  EXPECT_EQ(sys::format_cpulist(old.allowed), "4-7");
  EXPECT_THAT(all(old.nics, &model::Nic::name), ElementsAre("qib0"));
}

}  // namespace
}  // namespace berth
