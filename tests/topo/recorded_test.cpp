// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <topo/checks.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

/// What a machine is known to consist of.
struct Expected {
  char const* file;
  int packages;
  std::size_t numa_nodes;
  std::size_t cores;
  std::size_t pus;
  char const* devices;  ///< "<OS index of the NUMA node>:<devices>", -1: locality not known
  int fabric_cards;     ///< with an active port
};

// Machines of the public test suites of hwloc, mpibind, flux, nixl and RCCL.
constexpr Expected machines[] = {
    {"aws-c5n.18xl-nixl-coresadded.xml", 2, 2, 36, 72, "", 1},
    {"aws-g5.48xl-nixl-coresadded.xml", 2, 2, 96, 192, "-1:8", 1},
    {"aws-p5.48xl-nixl-coresadded.xml", 2, 2, 96, 96, "0:4 1:4", 32},
    {"aws-p6e-gb200-2xGrace-4xGB200-nixl-retyped.xml", 2, 2, 144, 144, "0:2 1:2", 16},
    {"azure-ndv2-2xSKL-8xV100-ncclconv.xml", 2, 2, 40, 40, "0:4 1:4", 1},
    {"azure-ndv4-2xRome-8xA100-4numa-ncclconv.xml", 2, 4, 96, 96, "0:2 1:2 2:2 3:2", 8},
    {"cisco-16c-manyVFs-hwloc.xml", 2, 2, 16, 16, "", 3},
    {"coralea-2xP8-4xP100-mpibind.xml", 2, 2, 20, 160, "0:2 1:2", 2},
    {"corona-2xNaples-4xMI60-nps4-mpibind.xml", 2, 8, 48, 96, "1:1 2:1 5:1 7:1", 1},
    {"dgx2h-2xSKL-16xV100-hwlocv3edited.xml", 2, 2, 4, 4, "0:8 1:8", 0},
    {"dgxspark-gb10-hwlocsysfs.xml", 1, 1, 20, 20, "", 0},
    {"hype-2xSNB-cgroup4cores-part0-fluxsched.xml", 1, 1, 4, 4, "", 1},
    {"hype-2xSNB-cgroup4cores-part2-fluxsched.xml", 1, 1, 4, 4, "", 0},
    {"ipa20-2xSPR-4xH100-snc4-fluxcore.xml", 2, 8, 112, 224, "1:1 3:1 5:1 7:1", 1},
    {"ipa20-restricted-14pus-node1-derived.xml", 2, 8, 14, 14, "1:1 3:1 5:1 7:1", 1},
    {"knl-snc4-flat-hbmnodes-mpibind.xml", 1, 8, 68, 272, "", 1},
    {"lassen-2xP9-4xV100-mpibind.xml", 2, 2, 40, 160, "0:2 8:2", 4},
    {"mi300x-2xSPR-8xMI300X-8xCX7-ncclconv.xml", 2, 2, 112, 224, "0:4 1:4", 8},
    {"pascal-2xBDW-2xP100-onesocket-mpibind.xml", 2, 2, 36, 72, "0:2", 1},
    {"power9-2p-6xV100-gpunodesdropped-hwlocsysfs.xml", 2, 2, 8, 32, "", 0},
    {"quartz-2xBDW-nogpu-opa-mpibind.xml", 2, 2, 36, 36, "", 1},
    {"rome-nps4-8xMI-unevennuma-ncclconv.xml", 2, 7, 112, 112, "1:1 2:2 3:1 5:2 6:1 7:1", 1},
    {"sierra-2xP9-4xV100-gpumemnodes-fluxcore.xml", 2, 6, 44, 176, "0:2 8:2", 4},
    {"snb-2n-gpu-mic-ib-hwloc.xml", 2, 2, 16, 32, "0:1 1:3", 1},
    {"tioga-1xTrento-8xMI250Xgcd-nps4-mpibind.xml", 1, 4, 64, 128, "0:2 1:2 2:2 3:2", 4},
    {"tuolumne-4xMI300A-SPX-fluxcore.xml", 4, 4, 96, 192, "0:1 1:1 2:1 3:1", 4},
    {"tuolumne-4xMI300A-TPX-fluxcore.xml", 4, 4, 96, 192, "0:3 1:3 2:3 3:3", 4},
    {"westmere-2n-3xM2050-ib-hwloc.xml", 2, 2, 12, 24, "0:1 1:2", 1}};

std::string devices_of(model::Node const& node) {
  std::map<int, int> counts;
  for (auto const& device : node.devices) {
    auto const numa = static_cast<std::size_t>(device.numa);
    ++counts[device.numa < 0 ? -1 : node.numa_nodes[numa].os_index];
  }
  std::string text;
  for (auto const& [numa, count] : counts) {
    text += (text.empty() ? "" : " ") + std::to_string(numa) + ":" + std::to_string(count);
  }
  return text;
}

TEST(RecordedMachines, AreReadAsTheyAre) {
  int seen = 0;
  for (Expected const& expected : machines) {
    std::string const path = std::string(BERTH_RECORDED) + "/" + expected.file;
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(expected.file);
    ++seen;
    model::Node const node = topo::read_xml(path);
    std::size_t pus = 0;
    for (auto const& core : node.cores) pus += core.pus.size();
    int fabric = 0;
    for (auto const& nic : node.nics) fabric += nic.fabric ? 1 : 0;
    EXPECT_EQ(node.packages, expected.packages);
    EXPECT_EQ(node.numa_nodes.size(), expected.numa_nodes);
    EXPECT_EQ(node.cores.size(), expected.cores);
    EXPECT_EQ(pus, expected.pus);
    EXPECT_EQ(devices_of(node), expected.devices);
    EXPECT_EQ(fabric, expected.fabric_cards);
    test::check_node(node);
  }
  if (seen == 0) GTEST_SKIP() << "no recorded machine in " << BERTH_RECORDED;
}

}  // namespace
}  // namespace berth
