// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <base/ranges.hpp>
#include <report/map_svg.hpp>

#include "map_svg_checks.hpp"

namespace {

using namespace berth;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t gib = std::size_t{1} << 30U;

/// Packages of NUMA nodes of cores of threads; thread t of core c is PU c + t * cores.
model::Node machine(int packages, int numas, int cores, int threads) {
  model::Node node;
  node.packages = packages;
  int const all = packages * numas * cores;
  for (int numa = 0; numa < packages * numas; ++numa) {
    model::NumaNode memory{numa, numa / numas, 128 * gib, {}, {}};
    for (int i = 0; i < cores; ++i) {
      model::Core core{memory.package, numa, -1, 0, {}};
      for (int t = 0; t < threads; ++t) core.pus.push_back(numa * cores + i + t * all);
      memory.pus.insert(memory.pus.end(), core.pus.begin(), core.pus.end());
      node.cores.push_back(core);
    }
    std::sort(memory.pus.begin(), memory.pus.end());
    node.numa_nodes.push_back(memory);
  }
  for (int pu = 0; pu < all * threads; ++pu) node.allowed.push_back(pu);
  return node;
}

void add_device(model::Node& node, int numa) {
  model::Device device;
  device.bus_id = fmt::format("0000:{:02x}:00.0", node.devices.size() + 16);
  device.vendor = "10de";
  device.model = "NVIDIA H100 80GB HBM3";
  device.numa = numa;
  device.package = numa < 0 ? -1 : node.numa_nodes.at(static_cast<std::size_t>(numa)).package;
  node.devices.push_back(device);
}

void add_nic(model::Node& node, int numa, double gbps = 400) {
  model::Nic nic;
  nic.name = fmt::format("mlx5_{}", node.nics.size());
  nic.numa = numa;
  nic.package = numa < 0 ? -1 : node.numa_nodes.at(static_cast<std::size_t>(numa)).package;
  nic.gbps = gbps;
  node.nics.push_back(nic);
}

/// A rank on PUs `first` to `first + pus - 1`.
model::MapRank rank_on(int rank, int first, int pus) {
  model::MapRank made;
  made.rank = rank;
  std::vector<int> numbers;
  for (int i = 0; i < pus; ++i) numbers.push_back(first + i);
  made.placement.cpus = base::format_ranges(numbers);
  made.placement.cores = pus;
  made.placement.reason = fmt::format("reason of {}", rank);
  return made;
}

/// Ranks that share the machine's first threads evenly, device and NIC i for rank i.
report::HostPicture picture(model::Node const& node, int ranks, std::string title = "n0") {
  report::HostPicture host{std::move(title), &node, {}};
  int const share = std::max(1, static_cast<int>(node.cores.size()) / std::max(ranks, 1));
  for (int i = 0; i < ranks; ++i) {
    host.ranks.push_back(rank_on(i, i * share % static_cast<int>(node.cores.size()), share));
    Placement& place = host.ranks.back().placement;
    auto const at = static_cast<std::size_t>(i);
    if (!node.devices.empty()) place.device = node.devices[at % node.devices.size()].bus_id;
    if (node.nics.empty()) continue;
    place.nics = {node.nics[at % node.nics.size()].name};
    place.nic_path = "PXB";
  }
  return host;
}

/// Draws and checks what is true of every picture.
void draw(std::vector<report::HostPicture> const& hosts, test::Drawing& drawing) {
  test::parse(report::map_svg(hosts), drawing);
  EXPECT_THAT(test::faults(drawing), IsEmpty());
}

TEST(MapSvg, IsAWellFormedPictureWithoutRanks) {
  model::Node const node = machine(2, 1, 4, 1);
  test::Drawing drawing;
  draw({{"n0", &node, {}}}, drawing);
  EXPECT_EQ(test::rectangles(drawing, "package").size(), 2U);
  EXPECT_EQ(test::rectangles(drawing, "idle").size(), 8U);
  EXPECT_THAT(test::texts(drawing), HasSubstr("NUMA 1, 128 GiB"));
}

TEST(MapSvg, DrawsAnEmptyNodeAndNoHostAtAll) {
  model::Node const node;
  report::HostPicture host{"gone", &node, {rank_on(0, 0, 2)}};
  test::Drawing drawing;
  draw({host}, drawing);
  EXPECT_THAT(test::texts(drawing), HasSubstr("nothing is known of this machine"));
  EXPECT_EQ(test::rectangles(drawing, "swatch").size(), 1U);
  draw({}, drawing);
}

TEST(MapSvg, GivesEveryRankAColourOfItsOwnInCoresDeviceAndLegend) {
  model::Node node = machine(2, 1, 32, 1);
  for (int i = 0; i < 16; ++i) add_device(node, i / 8);
  test::Drawing drawing;
  draw({picture(node, 16)}, drawing);
  std::set<std::string> fills;
  for (auto const& entry : drawing.document.select_nodes("//rect[@class='swatch']"))
    fills.insert(entry.node().attribute("fill").value());
  EXPECT_EQ(fills.size(), 16U);
  // In the swatch, the badge of its device and each of its four cores.
  for (std::string const& fill : fills) EXPECT_GE(test::uses(drawing, "fill", fill), 6) << fill;
}

TEST(MapSvg, WritesTheRankIntoTheFirstCoreOfEachPiece) {
  model::Node const node = machine(1, 1, 12, 1);
  report::HostPicture host = picture(node, 2);
  host.ranks[0].placement.cpus = "0-2,6-8";
  host.ranks[1].placement.cpus = "3-5,9-11";
  test::Drawing drawing;
  draw({host}, drawing);
  EXPECT_EQ(drawing.document.select_nodes("//g[@class='core']/text[.='0']").size(), 2U);
  EXPECT_EQ(drawing.document.select_nodes("//g[@class='core']/text[.='1']").size(), 2U);
}

TEST(MapSvg, SplitsACoreThatRanksShare) {
  model::Node const node = machine(1, 1, 2, 2);
  report::HostPicture host{"n0", &node, {rank_on(0, 0, 1), rank_on(1, 2, 1)}};
  test::Drawing drawing;
  draw({host}, drawing);
  EXPECT_EQ(test::rectangles(drawing, "held").size(), 2U);
  EXPECT_EQ(test::rectangles(drawing, "idle").size(), 1U);
}

TEST(MapSvg, HatchesWhatIsNotAllowed) {
  model::Node node = machine(1, 1, 4, 1);
  node.allowed = {0, 1};
  test::Drawing drawing;
  draw({picture(node, 0)}, drawing);
  EXPECT_EQ(test::rectangles(drawing, "barred").size(), 2U);
  EXPECT_EQ(test::rectangles(drawing, "idle").size(), 2U);
}

TEST(MapSvg, EscapesHostileNames) {
  std::string const hostile = "<script>alert('&\"')</script>\x01\xff]]>\xef\xbf\xbf";
  model::Node node = machine(1, 1, 2, 1);
  add_device(node, 0);
  add_nic(node, 0);
  node.devices[0].model = hostile;
  node.devices[0].uuid = hostile;
  node.nics[0].name = hostile;
  node.numa_nodes[0].subtype = hostile;
  node.unused_nics.push_back({hostile, hostile});
  report::HostPicture host = picture(node, 1, hostile);
  host.ranks[0].placement.reason = hostile;
  host.ranks[0].placement.flags = {hostile};
  test::Drawing drawing;
  draw({host}, drawing);
  EXPECT_THAT(test::texts(drawing), HasSubstr("<script>alert('&\"')</script>??]]>?"));
}

TEST(MapSvg, KeepsThingsOfUnknownPlaceInABoxOfTheirOwn) {
  model::Node node = machine(2, 1, 4, 1);
  add_device(node, -1);
  add_nic(node, -1);
  test::Drawing drawing;
  draw({picture(node, 1)}, drawing);
  EXPECT_EQ(test::rectangles(drawing, "package").size(), 3U);
  EXPECT_THAT(test::texts(drawing), HasSubstr("no locality"));
}

TEST(MapSvg, LeadsLinesFromRanksWithoutDevice) {
  model::Node node = machine(2, 1, 4, 1);
  add_nic(node, 0);
  test::Drawing drawing;
  draw({picture(node, 2)}, drawing);
  EXPECT_EQ(drawing.document.select_nodes("//g[@class='link']").size(), 2U);
  EXPECT_THAT(test::texts(drawing), HasSubstr("no device"));
  EXPECT_THAT(test::texts(drawing), HasSubstr("rank 1 to mlx5_0, PXB"));
}

TEST(MapSvg, ManyRanksWithoutDeviceShareALine) {
  model::Node node = machine(2, 1, 48, 1);
  add_nic(node, 0);
  test::Drawing drawing;
  draw({picture(node, 96)}, drawing);
  EXPECT_EQ(drawing.document.select_nodes("//g[@class='link']").size(), 2U);
  EXPECT_THAT(test::texts(drawing), HasSubstr("ranks 48-95 to mlx5_0"));
}

TEST(MapSvg, ShowsSpecialMemoryAsStrips) {
  model::Node node = machine(2, 1, 4, 1);
  node.numa_nodes.push_back({2, 1, 96 * gib, {}, "GPUMemory"});
  node.numa_nodes.push_back({3, 0, 16 * gib, node.numa_nodes[0].pus, "HBM"});
  node.numa_nodes.push_back({4, -1, 16 * gib, {}, ""});
  test::Drawing drawing;
  draw({picture(node, 2)}, drawing);
  EXPECT_EQ(test::rectangles(drawing, "strip").size(), 3U);
  EXPECT_EQ(test::rectangles(drawing, "numa").size(), 2U);
  EXPECT_THAT(test::texts(drawing), HasSubstr("NUMA 2, GPU memory, 96 GiB"));
}

TEST(MapSvg, DimsNicsThatNobodyGetsAndSaysWhy) {
  model::Node node = machine(1, 1, 4, 1);
  for (int i = 0; i < 40; ++i) node.unused_nics.push_back({fmt::format("veth{}", i), "virtual"});
  node.unused_nics.push_back({"mlx5_9", "port 1 is down"});
  test::Drawing drawing;
  draw({picture(node, 1)}, drawing);
  EXPECT_THAT(test::texts(drawing), HasSubstr("mlx5_9 (port 1 is down)"));
  EXPECT_THAT(test::texts(drawing), ContainsRegex("veth0, .* and [0-9]+ more \\(virtual\\)"));
}

TEST(MapSvg, TellsTheReasonInATooltip) {
  model::Node node = machine(1, 1, 4, 1);
  add_device(node, 0);
  test::Drawing drawing;
  draw({picture(node, 1)}, drawing);
  EXPECT_EQ(
      drawing.document.select_nodes("//g[@class='device']/title[contains(.,'Rank 0: reason of 0')]")
          .size(),
      1U);
}

TEST(MapSvg, StaysInOrderOnMachinesOfAllShapes) {
  struct Shape {
    int packages, numas, cores, threads, devices, nics, ranks;
  };
  for (Shape const& s : std::vector<Shape>{{1, 1, 1, 1, 0, 0, 1},    // a laptop
                                           {1, 1, 1, 1, 0, 1, 7},    // with too many ranks
                                           {2, 1, 96, 2, 8, 9, 8},   // a fat node
                                           {2, 4, 24, 2, 8, 8, 16},  // 8 NUMA nodes
                                           {4, 1, 24, 2, 4, 4, 12},  // 4 packages
                                           {2, 1, 24, 2, 16, 32, 16},
                                           {2, 1, 24, 2, 16, 1, 32},
                                           {8, 1, 8, 1, 16, 3, 5},
                                           {2, 2, 128, 2, 8, 8, 512}}) {
    SCOPED_TRACE(fmt::format("{} packages, {} devices, {} ranks", s.packages, s.devices, s.ranks));
    model::Node node = machine(s.packages, s.numas, s.cores, s.threads);
    int const numas = s.packages * s.numas;
    for (int i = 0; i < s.devices; ++i) add_device(node, i * numas / s.devices);
    for (int i = 0; i < s.nics; ++i) add_nic(node, i * numas / s.nics);
    test::Drawing drawing;
    draw({picture(node, s.ranks)}, drawing);
    EXPECT_LE(drawing.width, 1800);
    if (char const* folder = std::getenv("BERTH_TEST_PICTURES"))
      std::ofstream(std::filesystem::path(folder) /
                    fmt::format("made-{}x{}x{}x{}-{}-{}-{}.svg", s.packages, s.numas, s.cores,
                                s.threads, s.devices, s.nics, s.ranks))
          << report::map_svg({picture(node, s.ranks), picture(node, 1, "another")});
  }
}

TEST(MapSvg, PutsHostsBelowEachOther) {
  model::Node const big = machine(2, 2, 8, 2);
  model::Node const small = machine(1, 1, 1, 1);
  test::Drawing drawing;
  draw({picture(big, 4, "one"), picture(small, 1, "two"), picture(big, 4, "three")}, drawing);
  EXPECT_EQ(drawing.document.select_nodes("//g[@class='host']").size(), 3U);
  EXPECT_EQ(test::rectangles(drawing, "package").size(), 5U);
}

TEST(MapSvg, IsTheSameInAnyLocale) {
  model::Node node = machine(1, 1, 4, 1);
  add_device(node, 0);
  add_nic(node, 0, 12.5);
  std::string const before = report::map_svg({picture(node, 1)});
  std::string const old = std::setlocale(LC_ALL, nullptr);
  bool const changed = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  std::string const after = report::map_svg({picture(node, 1)});
  std::setlocale(LC_ALL, old.c_str());
  EXPECT_EQ(before, after) << changed;
  EXPECT_THAT(after, HasSubstr("12.5 Gb/s"));
  EXPECT_THAT(after, Not(HasSubstr("12,5")));
}

}  // namespace
