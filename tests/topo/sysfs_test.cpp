// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <topo/convert.hpp>
#include <topo/made_sysfs.hpp>
#include <topo/partitions.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

using sys::Reach;
using test::MadeSysfs;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char const* first = "pcifff0:10/fff0:10:01.0/fff0:11:00.0";
constexpr char const* second = "pcifff0:10/fff0:10:02.0/fff0:12:00.0";

std::vector<std::string> names(model::Node const& node) {
  std::vector<std::string> all;
  for (auto const& nic : node.nics) all.push_back(nic.name);
  return all;
}

std::vector<std::string> refusals(model::Node const& node) {
  std::vector<std::string> all;
  for (auto const& nic : node.unused_nics) all.push_back(nic.name + ": " + nic.reason);
  return all;
}

TEST(Sysfs, TellsPortsAndSpeedsOfFabricCards) {
  MadeSysfs made;
  made.add_verbs("mlx5_0", first);
  made.add_verbs("mlx5_1", second, {{"ports/1/rate", "200 Gb/sec (4X HDR)"}});
  model::Node const node = topo::read_live({made.root()});
  ASSERT_THAT(names(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[0].gbps, 400);
  EXPECT_EQ(node.nics[1].gbps, 200);
  EXPECT_TRUE(node.nics[0].fabric);
  EXPECT_EQ(node.nics[0].bus_id, "fff0:11:00.0");
  EXPECT_THAT(node.nics[0].bridges, ElementsAre("fff0:10:01.0", "hostfff0:10"));
  EXPECT_THAT(node.unused_nics, IsEmpty());
}

TEST(Sysfs, TellsTheNumaNodeOfACard) {
  MadeSysfs made;
  made.add_verbs("mlx5_0", first);
  made.add_function(first, {{"numa_node", "0"}});
  EXPECT_EQ(topo::read_live({made.root()}).nics.at(0).numa, 0);
}

TEST(Sysfs, TellsWhatHwlocDoesNotKnow) {
  std::ifstream file(std::string(BERTH_FIXTURES) + "/no-locality.xml");
  std::stringstream text;
  text << file.rdbuf();
  MadeSysfs made;
  made.write("sys/bus/pci/devices/0000:00:16.0/numa_node", "1");
  made.write("sys/bus/pci/devices/0000:00:17.0/numa_node", "0");
  made.write("sys/bus/pci/devices/0000:00:18.0/numa_node", "-1");
  made.write("sys/bus/pci/devices/0000:00:19.0/numa_node", "7");
  made.add_verbs("rdmap0s27", "pci0000:00/0000:00:1b.0");
  made.add_function("pci0000:00/0000:00:1b.0", {{"numa_node", "1"}});
  made.add_interface("ens5", "pci0000:00/0000:00:05.0");
  model::Node const node =
      topo::convert(topo::Topology(text.str()), topo::LiveSource{made.root(), std::nullopt});
  ASSERT_EQ(node.devices.size(), 4U);
  EXPECT_EQ(node.devices[0].numa, 1);
  EXPECT_EQ(node.devices[0].package, 1);
  EXPECT_EQ(node.devices[0].local_pus, node.numa_nodes[1].pus);
  EXPECT_EQ(node.devices[1].numa, 0);
  EXPECT_EQ(node.devices[2].numa, -1);
  EXPECT_EQ(node.devices[3].numa, -1);
  ASSERT_THAT(names(node), ElementsAre("ens5", "rdmap0s27"));
  EXPECT_EQ(node.nics[0].numa, -1);
  EXPECT_EQ(node.nics[1].numa, 1);
}

TEST(Sysfs, CountsTheFastestActivePortOfACard) {
  MadeSysfs made;
  made.add_verbs("mlx4_0", first,
                 {{"ports/1/state", "1: DOWN"},
                  {"ports/2/state", "4: ACTIVE"},
                  {"ports/2/rate", "56 Gb/sec (4X FDR)"},
                  {"ports/10/state", "4: ACTIVE"},
                  {"ports/10/rate", "10 Gb/sec (4X SDR)"}});
  model::Node const node = topo::read_live({made.root()});
  ASSERT_THAT(names(node), ElementsAre("mlx4_0"));
  EXPECT_EQ(node.nics[0].gbps, 56);
}

TEST(Sysfs, NamesThePortThatMakesACardUseless) {
  MadeSysfs made;
  made.add_verbs("mlx5_0", first, {{"ports/1/state", "1: DOWN"}});
  made.add_verbs("mlx5_1", second, {{"ports/1/state", "2: INIT"}});
  made.add_verbs("mlx5_2", "pcifff0:10/fff0:10:03.0/fff0:13:00.0",
                 {{"ports/1/rate", "0 Gb/sec (4X SDR)"}});
  made.add_verbs("rxe0", "");
  EXPECT_THAT(refusals(topo::read_live({made.root()})),
              ElementsAre("mlx5_0: port 1 is down", "mlx5_1: port 1 is initializing",
                          "mlx5_2: port 1 has speed 0", "rxe0: virtual"));
}

TEST(Sysfs, ShowsTheInterfaceOfAFabricCardOnce) {
  MadeSysfs made;
  made.add_verbs("mlx5_0", first);
  made.add_interface("ib0", first, {{"type", "32"}});
  model::Node const node = topo::read_live({made.root()});
  EXPECT_THAT(names(node), ElementsAre("mlx5_0"));
  EXPECT_THAT(refusals(node), ElementsAre("ib0: the interface of mlx5_0"));
}

TEST(Sysfs, KnowsSlingshotByItsVendor) {
  MadeSysfs made;
  made.add_interface("hsn0", first, {{"speed", "200000"}});
  made.add_function(first, {{"vendor", "0x17db"}});
  made.add_interface("hsn1", second);
  // Without an address it carries data all the same.
  model::Node const node = topo::read_live({made.root(), "", {{{"hsn1", Reach::global}}}});
  ASSERT_THAT(names(node), ElementsAre("hsn0", "hsn1"));
  EXPECT_TRUE(node.nics[0].fabric);
  EXPECT_EQ(node.nics[0].gbps, 200);
  EXPECT_FALSE(node.nics[1].fabric);
}

TEST(Sysfs, LeavesOutInterfacesThatReachNobody) {
  MadeSysfs made;
  made.add_interface("eth0", first);
  made.add_interface("eth1", second, {{"operstate", "down"}, {"carrier", "0"}});
  made.add_interface("eth2", "pcifff0:10/fff0:10:03.0/fff0:13:00.0", {{"speed", "0"}});
  made.add_interface("eth3", "pcifff0:10/fff0:10:04.0/fff0:14:00.0");
  made.add_interface("eth4", "pcifff0:10/fff0:10:05.0/fff0:15:00.0");
  made.add_interface("eth5", "pcifff0:10/fff0:10:06.0/fff0:16:00.0",
                     {{"operstate", "unknown"}, {"speed", "-1"}});
  made.add_interface("eth6", "pcifff0:10/fff0:10:07.0/fff0:17:00.0", {{"flags", "0x1002"}});
  made.add_interface("usb0", "pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0");
  made.add_interface("wlan0", "pcifff0:10/fff0:10:09.0/fff0:19:00.0");
  made.write("sys/class/net/wlan0/wireless/status", "0");
  std::map<std::string, Reach> const reach{{"eth0", Reach::global},     {"eth1", Reach::global},
                                           {"eth2", Reach::global},     {"eth4", Reach::link_local},
                                           {"eth5", Reach::global},     {"eth6", Reach::global},
                                           {"usb0", Reach::link_local}, {"wlan0", Reach::global}};
  model::Node const node = topo::read_live({made.root(), "", reach});
  EXPECT_THAT(names(node), ElementsAre("eth0", "eth5"));
  EXPECT_EQ(node.nics.at(0).gbps, 25);
  EXPECT_EQ(node.nics.at(1).gbps, 0);
  EXPECT_THAT(refusals(node), ElementsAre("eth1: down", "eth2: speed 0", "eth3: no address",
                                          "eth4: only a link-local address", "eth6: down",
                                          "usb0: on USB", "wlan0: wireless"));
}

TEST(Sysfs, NeverTakesAVirtualInterface) {
  MadeSysfs made;
  for (char const* name : {"lo", "docker0", "veth1a2b", "br-0f12", "virbr0", "cni0", "tun0"}) {
    made.add_interface(name, "");
  }
  made.add_interface("tap0", first);  // whatever claims to be behind it
  made.write("sys/class/net/bonding_masters", "bond0");
  model::Node const node = topo::read_live({made.root()});
  EXPECT_THAT(names(node), IsEmpty());
  EXPECT_EQ(node.unused_nics.size(), 8U);
  for (auto const& nic : node.unused_nics) EXPECT_EQ(nic.reason, "virtual") << nic.name;
}

TEST(Sysfs, ABondStandsForItsSlavesAndAVlanForItsParent) {
  MadeSysfs made;
  made.add_interface("eth0", first);
  made.add_interface("eth1", second);
  made.add_interface("bond0", "", {{"bonding/slaves", "eth0 eth1"}});
  made.add_interface("eth2", "pcifff0:10/fff0:10:03.0/fff0:13:00.0");
  made.add_interface("eth2.100", "");
  made.stack("eth2.100", "eth2");
  made.add_interface("br0", "");
  made.stack("br0", "bond0");
  // The slaves have no address of their own, nor has the parent.
  model::Node const node =
      topo::read_live({made.root(), "", {{{"br0", Reach::global}, {"eth2.100", Reach::global}}}});
  EXPECT_THAT(names(node), ElementsAre("eth0", "eth1", "eth2"));
  EXPECT_THAT(refusals(node), ElementsAre("bond0: made of eth0, eth1", "br0: made of bond0",
                                          "eth2.100: made of eth2"));
}

TEST(Sysfs, AVirtualFunctionStandsForItsPhysicalOne) {
  MadeSysfs made;
  made.add_interface("eth0", first);
  made.add_interface("eth1", second);
  made.link(std::string("sys/devices/") + second + "/physfn", first);
  EXPECT_THAT(refusals(topo::read_live({made.root()})),
              ElementsAre("eth1: virtual function of eth0"));
}

TEST(Sysfs, AVirtualFunctionAloneIsACard) {
  MadeSysfs made;
  made.add_verbs("mlx5_8", second);
  made.add_function(first);
  made.link(std::string("sys/devices/") + second + "/physfn", first);
  EXPECT_THAT(names(topo::read_live({made.root()})), ElementsAre("mlx5_8"));
}

TEST(Drivers, TellMigInstancesAndNames) {
  MadeSysfs made;
  made.write("proc/driver/nvidia/gpus/0000:11:00.0/information",
             "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 7\n"
             "GPU UUID: \t GPU-01234567-89ab-cdef-0123-456789abcdef\nDevice Minor: \t 0");
  made.write(
      "proc/driver/nvidia/gpus/0000:12:00.0/information",
      "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?\nDevice Minor: \t 1");
  made.write("proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "x");
  made.write("proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci0/access", "x");
  made.write("proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci1/access", "x");
  made.write("proc/driver/nvidia/capabilities/gpu1/mig/config", "x");
  auto const facts = topo::read_driver_facts(made.root());
  ASSERT_EQ(facts.size(), 2U);
  auto const& split = facts.at({0, 0x11, 0, 0});
  EXPECT_EQ(split.model, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(split.uuids, ElementsAre("", "", ""));
  EXPECT_THAT(facts.at({0, 0x12, 0, 0}).uuids, ElementsAre(""));
}

TEST(Drivers, TellOfDevicesOnABusThatIsHidden) {
  MadeSysfs made;
  made.write("proc/driver/nvidia/gpus/0001:11:00.0/information",
             "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-01234567-89ab-cdef-0123-456789abcdef\n"
             "Device Minor: \t 0");
  made.write("proc/driver/nvidia/gpus/0001:12:00.0/information", "Device Minor: \t 1");
  made.write("proc/driver/nvidia/capabilities/gpu1/mig/gi1/ci0/access", "x");
  made.write("proc/driver/nvidia/capabilities/gpu1/mig/gi2/ci0/access", "x");
  std::ifstream file(std::string(BERTH_FIXTURES) + "/two-sockets-4-gpus.xml");
  std::stringstream text;
  text << file.rdbuf();
  model::Node const node =
      topo::convert(topo::Topology(text.str()), topo::LiveSource{made.root(), std::nullopt});
  ASSERT_EQ(node.devices.size(), 7U);
  auto const& device = node.devices[4];
  EXPECT_EQ(device.bus_id, "0001:11:00.0");
  EXPECT_EQ(device.vendor, "10de");
  EXPECT_EQ(device.model, "NVIDIA H200");
  EXPECT_EQ(device.uuid, "GPU-01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(device.numa, -1);
  EXPECT_EQ(node.devices[5].partition, 0);
  EXPECT_EQ(node.devices[6].partition, 1);
  EXPECT_EQ(node.devices[6].bus_id, "0001:12:00.0");
}

TEST(Interfaces, ReachNobodyByLoopback) {
  auto const reach = sys::interface_reach();
  auto const loopback = reach.find("lo");
  if (loopback != reach.end()) {
    EXPECT_EQ(loopback->second, Reach::none);
  }
}

TEST(Drivers, TellPartitionsOfOneAmdDevice) {
  MadeSysfs made;
  std::string const nodes = "sys/class/kfd/kfd/topology/nodes/";
  made.write(nodes + "0/properties", "cpu_cores_count 96\nsimd_count 0\nlocation_id 0");
  for (int i = 0; i < 3; ++i) {
    made.write(nodes + std::to_string(i + 9) + "/properties",
               "simd_count 320\nlocation_id " + std::to_string(0x200 + i) +
                   "\ndomain 1\nunique_id " + std::to_string(255 + i));
  }
  auto const facts = topo::read_driver_facts(made.root());
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_THAT(facts.at({1, 2, 0, 0}).uuids,
              ElementsAre("GPU-00000000000000ff", "GPU-0000000000000100", "GPU-0000000000000101"));
}

}  // namespace
}  // namespace berth
