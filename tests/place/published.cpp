// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "published.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "machines.hpp"

namespace berth::test {
namespace {

// Below a switch: its port, the port above, the host bridge.
std::vector<std::string> behind(std::string const& above, int port) {
  return {fmt::format("{}:10:{:02x}.0", above, port), above + ":01:00.0", "host" + above};
}

void set_caches(model::Node& node, int cores) {
  for (std::size_t i = 0; i < node.cores.size(); ++i) {
    node.cores[i].l3 = static_cast<int>(i) / cores;
  }
}

void set_distances(model::Node& node, double inside, double across) {
  std::size_t const count = node.numa_nodes.size();
  node.numa_distance.assign(count, std::vector<double>(count, 0));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      bool const same = node.numa_nodes[i].package == node.numa_nodes[j].package;
      node.numa_distance[i][j] = i == j ? 0 : same ? inside : across;
    }
  }
}

// Memory without processors.
void add_gpu_memory(model::Node& node, int os_index) {
  model::NumaNode memory;
  memory.os_index = os_index;
  memory.memory_bytes = 16UL << 30U;
  memory.subtype = "GPUMemory";
  node.numa_nodes.push_back(memory);
}

}  // namespace

model::Node dgx_h100() {
  model::Node node = machine({2, 1, 56, 2});
  set_caches(node, 56);
  set_distances(node, 0, 1.1);
  std::array const buses{"1b", "43", "52", "61", "9d", "c3", "d1", "df"};
  std::array const cards{0, 3, 4, 5, 6, 9, 10, 11};
  for (int i = 0; i < 8; ++i) {
    auto const at = static_cast<std::size_t>(i);
    std::string const above = fmt::format("0000:{}", buses[at]);
    add_gpu(node, above + ":00.0", i / 4, behind(above, 1));
    add_nic(node, fmt::format("mlx5_{}", cards[at]), i / 4, behind(above, 2));
  }
  for (int const storage : {1, 2, 7, 8}) {
    add_nic(node, fmt::format("mlx5_{}", storage), storage / 7, {"host0000:f0"});
  }
  std::sort(node.nics.begin(), node.nics.end(),
            [](auto const& a, auto const& b) { return a.name < b.name; });
  return node;
}

model::Node frontier() {
  model::Node node = machine({1, 4, 16, 2});
  set_caches(node, 8);
  set_distances(node, 0.2, 0.2);
  std::array const buses{"c1", "c6", "c9", "ce", "d1", "d6", "d9", "de"};
  std::array const roots{"c0", "c4", "c8", "cc", "d0", "d4", "d8", "dc"};
  std::array const groups{6, 7, 2, 3, 0, 1, 4, 5};
  for (std::size_t i = 0; i < 8; ++i) {
    std::string const root = roots[i];
    add_gpu(node, fmt::format("0000:{}:00.0", buses[i]), groups[i] / 2,
            {"0000:" + root + ":07.1", "host0000:" + root});
    model::PuSet pus;
    for (auto const& core : node.cores) {
      if (core.l3 == groups[i]) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
    }
    std::sort(pus.begin(), pus.end());
    node.devices.back().local_pus = pus;
  }
  for (int i = 0; i < 4; ++i) {
    auto const odd = 2 * static_cast<std::size_t>(i) + 1;
    std::string const root = roots[odd];
    add_nic(node, fmt::format("hsn{}", i), groups[odd] / 2,
            {"0000:" + root + ":01.1", "host0000:" + root}, 200);
  }
  return node;
}

model::Node mi300a() {
  model::Node node = machine({4, 1, 24, 2});
  set_caches(node, 8);
  set_distances(node, 0, 2.2);
  for (int i = 0; i < 4; ++i) {
    std::string const domain = fmt::format("{:04x}:", i);
    add_gpu(node, domain + "02:00.0", i, {domain + "00:07.1", "host" + domain + "00"});
    add_nic(node, fmt::format("hsi{}", i), i, {domain + "00:01.1", "host" + domain + "00"}, 200);
  }
  return node;
}

model::Node power9() {
  model::Node node = machine({2, 1, 22, 4});
  set_caches(node, 2);
  // POWER numbers the threads of a core one after the other.
  for (std::size_t i = 0; i < node.cores.size(); ++i) {
    for (int thread = 0; thread < 4; ++thread) {
      node.cores[i].pus[static_cast<std::size_t>(thread)] = static_cast<int>(4 * i) + thread;
    }
  }
  for (int pu = 0; pu < 88; ++pu) {
    node.numa_nodes[0].pus[static_cast<std::size_t>(pu)] = pu;
    node.numa_nodes[1].pus[static_cast<std::size_t>(pu)] = 88 + pu;
  }
  node.numa_nodes[1].os_index = 8;
  for (int os_index = 252; os_index < 256; ++os_index) add_gpu_memory(node, os_index);
  add_gpu(node, "0004:04:00.0", 0, behind("0004:00", 10));
  add_gpu(node, "0004:05:00.0", 0, behind("0004:00", 11));
  add_gpu(node, "0035:03:00.0", 1, behind("0035:00", 4));
  add_gpu(node, "0035:04:00.0", 1, behind("0035:00", 5));
  for (int i = 0; i < 4; ++i) {
    std::string const domain = i < 2 ? "0003:00" : "0033:00";
    add_nic(node, fmt::format("mlx5_{}", i), i / 2, {domain + ":00.0", "host" + domain}, 100);
  }
  return node;
}

model::Node ndv4() {
  model::Node node = machine({2, 2, 24, 1});
  set_caches(node, 4);
  std::array const domains{1, 2, 3, 4, 11, 12, 13, 14};
  std::array const numas{1, 1, 0, 0, 3, 3, 2, 2};
  for (int i = 0; i < 8; ++i) {
    auto const at = static_cast<std::size_t>(i);
    std::string const above = fmt::format("ff{:02x}:00", i / 2);
    add_gpu(node, fmt::format("{:04x}:00:00.0", domains[at]), numas[at], behind(above, i % 2));
    add_nic(node, fmt::format("mlx5_ib{}", i), numas[at], behind(above, 2 + i % 2), 200);
  }
  return node;
}

model::Node p5() {
  model::Node node = machine({2, 1, 48, 1});
  std::array const buses{0x53, 0x64, 0x75, 0x86, 0x97, 0xa8, 0xb9, 0xca};
  std::array const first_card{79, 96, 113, 130, 147, 164, 181, 198};
  for (int i = 0; i < 8; ++i) {
    auto const at = static_cast<std::size_t>(i);
    std::string const above = fmt::format("0000:{:02x}", buses[at] - 15);
    add_gpu(node, fmt::format("0000:{:02x}:00.0", buses[at]), i / 4, behind(above, 4));
    for (int k = 0; k < 4; ++k) {
      add_nic(node, fmt::format("rdmap{}s0", first_card[at] + k), i / 4, behind(above, k), 100);
    }
  }
  return node;
}

model::Node gb200() {
  model::Node node = machine({2, 1, 72, 1});
  set_caches(node, 72);
  set_distances(node, 0, 1);
  add_gpu_memory(node, 2);
  add_gpu_memory(node, 10);
  std::array const buses{0x29, 0x3f, 0x9c, 0xb2};
  std::array const near{39, 61, 154, 176};
  std::array const other{54, 76, 169, 191};
  for (int i = 0; i < 4; ++i) {
    auto const at = static_cast<std::size_t>(i);
    std::string const above = fmt::format("0000:{:02x}", buses[at] - 5);
    std::string const elsewhere = fmt::format("0000:{:02x}", buses[at] + 6);
    add_gpu(node, fmt::format("0000:{:02x}:00.0", buses[at]), i / 2, behind(above, 2));
    for (int k = 0; k < 2; ++k) {
      add_nic(node, fmt::format("rdmap{}s0", near[at] + k), i / 2, behind(above, k), 400);
      add_nic(node, fmt::format("rdmap{}s0", other[at] + k), i / 2, behind(elsewhere, k), 400);
    }
  }
  return node;
}

model::Node ipa20() {
  model::Node node = machine({2, 4, 14, 2});
  set_caches(node, 56);
  set_distances(node, 0.2, 1.1);
  add_gpu(node, "0000:4e:00.0", 3, behind("0000:48", 3));
  add_gpu(node, "0000:5f:00.0", 1, behind("0000:59", 3));
  add_gpu(node, "0000:cb:00.0", 7, behind("0000:c7", 1));
  add_gpu(node, "0000:db:00.0", 5, behind("0000:d7", 1));
  add_nic(node, "mlx5_0", 3, behind("0000:48", 2), 200);
  add_nic(node, "mlx5_1", 3, behind("0000:48", 2), 200);
  add_nic(node, "mlx5_2", 1, behind("0000:59", 2), 400);
  add_nic(node, "mlx5_3", 5, behind("0000:d7", 0), 400);
  return node;
}

model::Node corona() {
  model::Node node = machine({2, 4, 6, 2});
  set_caches(node, 3);
  set_distances(node, 0.6, 2.2);
  add_gpu(node, "0000:13:00.0", 1, behind("0000:10", 0));
  add_gpu(node, "0000:23:00.0", 2, behind("0000:20", 0));
  add_gpu(node, "0000:53:00.0", 5, behind("0000:50", 0));
  add_gpu(node, "0000:73:00.0", 7, behind("0000:70", 0));
  add_nic(node, "mlx5_0", 3, behind("0000:30", 8), 200);
  return node;
}

model::Node rome_uneven() {
  model::Node node = machine({2, 4, 16, 1});
  set_caches(node, 4);
  std::array const buses{"03", "23", "26", "43", "83", "a3", "c3", "c6"};
  std::array const numas{3, 2, 2, 1, 7, 6, 5, 5};
  for (std::size_t i = 0; i < 8; ++i) {
    add_gpu(node, fmt::format("0000:{}:00.0", buses[i]), numas[i],
            {fmt::format("host0000:{}", buses[i])});
  }
  add_nic(node, "mlx5_0", 4, {"host0000:e1"}, 200);
  return node;
}

model::Node knl_flat() {
  model::Node node;
  node.packages = 1;
  std::array const sizes{18, 18, 16, 16};
  int first = 0;
  for (int i = 0; i < 4; ++i) {
    model::NumaNode memory;
    memory.os_index = i;
    memory.package = 0;
    memory.memory_bytes = 24UL << 30U;
    int const size = sizes[static_cast<std::size_t>(i)];
    for (int index = first; index < first + size; ++index) {
      model::Core core;
      core.package = 0;
      core.numa = 2 * i;
      core.pus = {index, index + 68, index + 136, index + 204};
      memory.pus.insert(memory.pus.end(), core.pus.begin(), core.pus.end());
      node.cores.push_back(core);
    }
    first += size;
    std::sort(memory.pus.begin(), memory.pus.end());
    node.numa_nodes.push_back(memory);
    memory.os_index = 4 + i;
    memory.memory_bytes = 4UL << 30U;
    memory.subtype = "MCDRAM";
    node.numa_nodes.push_back(memory);
  }
  for (int pu = 0; pu < 272; ++pu) node.allowed.push_back(pu);
  add_nic(node, "mlx5_0", 0, {"0000:00:02.0", "host0000:00"}, 100);
  return node;
}

model::Node laptop() {
  model::Node node;
  node.packages = 1;
  model::NumaNode memory;
  memory.os_index = 0;
  memory.package = 0;
  memory.memory_bytes = 32UL << 30U;
  for (int pu = 0; pu < 20; ++pu) {
    memory.pus.push_back(pu);
    node.allowed.push_back(pu);
    bool const fast = pu < 12;
    if (fast && pu % 2 == 1) continue;
    model::Core core;
    core.package = 0;
    core.numa = 0;
    core.kind = fast ? 1 : 0;
    core.l3 = 0;
    core.pus = fast ? model::PuSet{pu, pu + 1} : model::PuSet{pu};
    node.cores.push_back(core);
  }
  node.numa_nodes.push_back(memory);
  add_gpu(node, "0000:01:00.0", 0, {"0000:00:01.0", "host0000:00"});
  add_nic(node, "wlp0s20f3", 0, {"host0000:00"}, 0);
  node.nics.back().fabric = false;
  return node;
}

}  // namespace berth::test
