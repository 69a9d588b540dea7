// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <sys/affinity.hpp>
#include <topo/bus_id.hpp>
#include <topo/made_sysfs.hpp>
#include <topo/nccl.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string path(std::string const& name) {
  return std::string(BERTH_FIXTURES) + "/" + name;
}

std::string error_of(std::string const& text) {
  try {
    topo::node_from_nccl(topo::parse_nccl(text));
    return {};
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    return error.what();
  }
}

TEST(NcclTopology, IsAMachineOfItsOwn) {
  model::Node const node = topo::read_xml(path("nccl-two-switches.xml"));
  EXPECT_EQ(node.host, "nccl-two-switches");
  EXPECT_EQ(node.packages, 2);
  ASSERT_EQ(node.numa_nodes.size(), 2U);
  EXPECT_EQ(sys::format_cpulist(node.numa_nodes[1].pus), "16-31");
  EXPECT_EQ(node.cores.size(), 32U);
  EXPECT_EQ(sys::format_cpulist(node.allowed), "0-31");
  ASSERT_EQ(node.devices.size(), 2U);
  EXPECT_EQ(node.devices[1].bus_id, "0000:81:00.0");
  EXPECT_EQ(node.devices[1].numa, 1);
  EXPECT_THAT(node.devices[1].bridges, ElementsAre("0000:80:01.0"));
  ASSERT_EQ(node.nics.size(), 3U);
  EXPECT_EQ(node.nics[0].name, "eth0");
  EXPECT_FALSE(node.nics[0].fabric);
  EXPECT_EQ(node.nics[0].gbps, 25);
  EXPECT_EQ(node.nics[2].name, "mlx5_1");
  EXPECT_TRUE(node.nics[2].fabric);
  EXPECT_EQ(node.nics[2].gbps, 400);
  EXPECT_THAT(node.nics[2].bridges, ElementsAre("0000:80:01.0"));
}

TEST(NcclTopology, CompletesAMachineWithoutLocality) {
  model::Node node = topo::read_xml(path("no-locality.xml"));
  topo::complete_from_nccl(node, path("nccl-of-no-locality.xml"));
  ASSERT_EQ(node.devices.size(), 4U);
  EXPECT_EQ(node.devices[1].numa, 0);
  EXPECT_EQ(node.devices[2].numa, 1);
  EXPECT_EQ(node.devices[2].package, 1);
  EXPECT_EQ(node.devices[2].local_pus, node.numa_nodes[1].pus);
  EXPECT_THAT(node.devices[2].bridges, ElementsAre("ffff:ff:02.0"));
  ASSERT_EQ(node.nics.size(), 3U);
  EXPECT_EQ(node.nics[0].numa, -1);  // ens5 is not in the file
  EXPECT_EQ(node.nics[1].numa, 0);
  EXPECT_EQ(node.nics[2].numa, 1);
  EXPECT_THAT(node.nics[2].bridges, ElementsAre("ffff:ff:02.0"));
}

TEST(NcclTopology, ChangesNothingThatIsKnown) {
  model::Node node = topo::read_xml(path("two-sockets-4-gpus.xml"));
  auto const bridges = node.devices[0].bridges;
  topo::complete_from_nccl(node, path("nccl-of-no-locality.xml"));
  EXPECT_EQ(node.devices[0].bridges, bridges);
  EXPECT_EQ(node.devices[0].numa, 0);
}

TEST(NcclTopology, IsReadLiveOnlyWhenLocalityIsMissing) {
  test::MadeSysfs const made;
  EXPECT_NO_THROW(topo::read_live({made.root(), "/nonexistent.xml"}));
  model::Node node = topo::read_xml(path("no-locality.xml"));
  EXPECT_THROW(topo::complete_from_nccl(node, "/nonexistent.xml"), Error);
  EXPECT_THROW(topo::complete_from_nccl(node, path("no-locality.xml")), Error);
}

TEST(NcclTopology, CountsGpuElementsOfOneFunctionAsPartitions) {
  auto const node = topo::node_from_nccl(topo::parse_nccl(
      R"(<system version="1"><cpu numaid="0" affinity="f"><pci busid="0000:01:00.0" class="0x120000")"
      R"( vendor="0x1002"><gpu dev="0" gcn="942"/><gpu dev="1" gcn="942"/></pci></cpu></system>)"));
  ASSERT_EQ(node.devices.size(), 2U);
  EXPECT_EQ(node.devices[1].partition, 1);
  EXPECT_EQ(node.devices[1].vendor, "1002");
}

TEST(NcclTopology, IsRefusedWithItsReason) {
  EXPECT_THAT(error_of("<system/>"), HasSubstr("no cpu element"));
  EXPECT_THAT(error_of("<system"), HasSubstr("no well-formed XML"));
  EXPECT_THAT(error_of(R"(<system><cpu numaid="0"/></system>)"), HasSubstr("has an affinity"));
  EXPECT_THAT(error_of(R"(<system><cpu numaid="x" affinity="f"/></system>)"),
              HasSubstr("numaid \"x\" is no NUMA node"));
  EXPECT_THAT(error_of(R"(<system><cpu numaid="0" affinity="0-3"/></system>)"),
              HasSubstr("affinity \"0-3\" is no mask"));
  EXPECT_THAT(
      error_of(R"(<system><cpu numaid="0" affinity="f"/><cpu numaid="0" affinity="f0"/></system>)"),
      HasSubstr("two cpu elements have numaid 0"));
  EXPECT_THAT(
      error_of(R"(<system><cpu numaid="0" affinity="f"/><cpu numaid="1" affinity="8"/></system>)"),
      HasSubstr("two cpu elements claim PU 3"));
  EXPECT_THAT(error_of(R"(<system><cpu numaid="0" affinity="f"><pci busid="1:2"/></cpu></system>)"),
              HasSubstr("\"1:2\" is no PCI bus id"));
}

TEST(NcclTopology, MayNotBeNestedWithoutEnd) {
  std::string text = R"(<system><cpu numaid="0" affinity="f">)";
  for (int i = 0; i < 100; ++i) text += R"(<pci busid="0000:01:00.0">)";
  for (int i = 0; i < 100; ++i) text += "</pci>";
  EXPECT_THAT(error_of(text + "</cpu></system>"), HasSubstr("nested deeper than 64"));
}

TEST(AffinityMask, HasTheHighestWordFirst) {
  EXPECT_EQ(sys::format_cpulist(topo::parse_affinity("0000ffff,0000000f")), "0-3,32-47");
  EXPECT_EQ(sys::format_cpulist(topo::parse_affinity("ff,,0")), "64-71");
  EXPECT_EQ(sys::format_cpulist(topo::parse_affinity("0x1,0x80000000")), "31-32");
  EXPECT_TRUE(topo::parse_affinity("").empty());
  EXPECT_THROW(topo::parse_affinity("100000000"), Error);
  EXPECT_THROW(topo::parse_affinity("-1"), Error);
  EXPECT_THROW(topo::parse_affinity(std::string(3000, ',')), Error);
}

TEST(BusIds, AreReadInAllTheirForms) {
  EXPECT_EQ(topo::format_bus_id(*topo::parse_bus_id("0000:1B:00.0")), "0000:1b:00.0");
  EXPECT_EQ(topo::format_bus_id(*topo::parse_bus_id("00000000:1b:1f.7")), "0000:1b:1f.7");
  EXPECT_EQ(topo::format_bus_id(*topo::parse_bus_id("10000:e1:00.0")), "10000:e1:00.0");
  EXPECT_LT(*topo::parse_bus_id("ffff:00:00.0"), *topo::parse_bus_id("10000:00:00.0"));
  for (char const* bad :
       {"", "1b:00.0", "000:1b:00.0", "0000:1b:20.0", "0000:1b:00.8", "0000:1b:00", "0000:1b:00.0 ",
        "0000:-b:00.0", "0000:1b:00.00", "000000000:1b:00.0"}) {
    EXPECT_FALSE(topo::parse_bus_id(bad)) << bad;
  }
}

}  // namespace
}  // namespace berth
