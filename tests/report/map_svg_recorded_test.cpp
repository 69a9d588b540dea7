// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// Draws every machine of a folder with several numbers of ranks; with a second folder named, the
// pictures are left there to be looked at.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include <berth/error.hpp>
#include <place/place.hpp>
#include <report/map_svg.hpp>
#include <topo/topo.hpp>

#include "map_svg_checks.hpp"

namespace {

using namespace berth;

/// @return complaints
int draw(std::string const& name, model::Node const& node, int count, char const* folder) {
  std::vector<model::LocalRank> ranks(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) ranks[static_cast<std::size_t>(i)].rank = i;
  for (model::LocalRank& rank : ranks) rank.affinity = node.allowed;
  model::Policy policy;
  policy.use_devices = !node.devices.empty();
  model::NodePlan const plan = place::plan_node(node, ranks, policy);
  report::HostPicture host{fmt::format("{}, {} ranks", name, count), &node, {}};
  for (int i = 0; i < count; ++i)
    host.ranks.push_back({i, plan.placements[static_cast<std::size_t>(i)], std::nullopt});
  std::string const svg = report::map_svg({host});
  if (folder != nullptr) std::ofstream(fmt::format("{}/{}-{}.svg", folder, name, count)) << svg;
  test::Drawing drawing;
  test::parse(svg, drawing);
  std::vector<std::string> const wrong = test::faults(drawing);
  for (std::size_t i = 0; i < std::min<std::size_t>(wrong.size(), 5); ++i)
    std::printf("%s with %d ranks: %s\n", name.c_str(), count, wrong[i].c_str());
  return static_cast<int>(wrong.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int wrong = 0;
  int drawn = 0;
  std::set<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".xml") files.insert(entry.path());
  for (auto const& file : files) {
    model::Node const node = topo::read_xml(file.string());
    int const devices = static_cast<int>(node.devices.size());
    int const cores = static_cast<int>(node.cores.size());
    for (int const count : std::set<int>{std::max(devices, 1), 2 * std::max(devices, 1),
                                         std::max(devices / 2, 1), 1, 3, std::min(cores, 48)}) {
      wrong += draw(file.stem().string(), node, count, argc > 2 ? argv[2] : nullptr);
      ++drawn;
    }
  }
  std::printf("%d pictures, %d faults\n", drawn, wrong);
  return drawn > 0 && wrong == 0 ? 0 : 1;
}
