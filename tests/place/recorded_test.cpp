// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <place/place.hpp>
#include <topo/topo.hpp>

#include "rules.hpp"

/// Plans on every hwloc XML file of a folder and judges the plans by independent rules.
namespace {

namespace fs = std::filesystem;
using namespace berth;

std::size_t check(std::string const& file, model::Node const& node, int ranks, bool smt) {
  std::vector<model::LocalRank> group;
  group.reserve(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) group.push_back({i, node.allowed});
  model::Policy policy;
  policy.smt = smt;
  auto const wrong = test::violations(node, place::plan_node(node, group, policy));
  for (auto const& line : wrong) {
    std::printf("%s, %d ranks%s: %s\n", file.c_str(), ranks, smt ? "" : ", smt off", line.c_str());
  }
  return wrong.size();
}

std::size_t check_file(std::string const& file) {
  model::Node const node = topo::read_xml(file);
  auto const devices = static_cast<int>(node.devices.size());
  std::vector<int> counts{1, 3, 5, devices, 2 * devices, devices / 2};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::size_t wrong = 0;
  for (int const ranks : counts) {
    if (ranks == 0) continue;
    wrong += check(file, node, ranks, true);
    wrong += check(file, node, ranks, false);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !fs::is_directory(argv[1])) {
    std::printf("skipped: no folder of topologies\n");
    return 77;
  }
  std::size_t files = 0;
  std::size_t wrong = 0;
  for (auto const& entry : fs::directory_iterator(argv[1])) {
    if (entry.path().extension() != ".xml") continue;
    ++files;
    try {
      wrong += check_file(entry.path().string());
    } catch (std::exception const& error) {
      std::printf("%s\n", error.what());
      ++wrong;
    }
  }
  std::printf("%zu files, %zu violations\n", files, wrong);
  return files > 0 && wrong == 0 ? 0 : 1;
}
