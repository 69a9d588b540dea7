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

#include "machines.hpp"
#include "rules.hpp"

/// Plans on every hwloc XML file of a folder and judges the plans by independent rules.
namespace {

namespace fs = std::filesystem;
using namespace berth;

std::size_t check(std::string const& file, model::Node const& node,
                  std::vector<model::LocalRank> const& ranks, model::Policy const& policy) {
  std::size_t wrong = 0;
  for (auto const& line :
       test::violations(node, ranks, policy, place::plan_node(node, ranks, policy))) {
    std::printf("%s, %zu ranks, %s: %s\n", file.c_str(), ranks.size(), test::words(policy).c_str(),
                line.c_str());
    ++wrong;
  }
  return wrong;
}

std::size_t check_file(std::string const& file) {
  model::Node const node = topo::read_xml(file);
  auto const devices = static_cast<int>(node.devices.size());
  std::vector<int> counts{1, 3, 5, devices, 2 * devices, devices / 2};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::size_t wrong = 0;
  for (int const count : counts) {
    if (count == 0) continue;
    for (auto const& policy : test::policies()) {
      wrong += check(file, node, test::ranks(node, count), policy);
      wrong += check(file, node, test::ranks_bound_to_packages(node, count), policy);
    }
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
