// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// What a node is made of, as plain values. Read by topo, used by place.
namespace berth::model {

/// Set of processing units by OS index, sorted, without duplicates.
using PuSet = std::vector<int>;

struct Core {
  int package = -1;  ///< logical index
  int numa = -1;     ///< index into Node::numa_nodes of the nearest node with memory
  int l3 = -1;       ///< logical index of the L3 group; -1: none
  int kind = 0;      ///< efficiency class: higher is faster; 0 for all where cores are equal
  PuSet pus;         ///< hardware threads of this core, allowed or not
};

struct NumaNode {
  int os_index = -1;
  int package = -1;
  std::size_t memory_bytes = 0;
  PuSet pus;            ///< empty: a node without processors (GPU memory, CXL)
  std::string subtype;  ///< "", "GPUMemory", "MCDRAM", "HBM"
};

enum class DeviceKind { gpu, accelerator };

struct Device {
  std::string bus_id;  ///< "0000:1b:00.0"
  int partition = 0;   ///< several devices on one bus id (MIG, CPX)
  std::string vendor;  ///< PCI vendor id "10de"
  std::string model;   ///< name, when known
  std::string uuid;    ///< "GPU-..." or "MIG-..."; empty: not known
  int numa = -1;       ///< index into Node::numa_nodes; -1: locality not known
  int package = -1;
  /// Bus ids of the PCI bridges above, nearest first; the host bridge comes last as "host0000:00".
  std::vector<std::string> bridges;
  PuSet local_pus;  ///< PUs beside it, allowed or not, perhaps fewer than its NUMA node has
};

struct Nic {
  std::string name;    ///< "mlx5_0", "hsn0", "eth0"
  std::string bus_id;  ///< may be empty
  int numa = -1;
  int package = -1;
  double gbps = 0;                   ///< 0: not known
  bool fabric = false;               ///< OpenFabrics, EFA, Slingshot, Omni-Path; false: ethernet
  std::vector<std::string> bridges;  ///< as Device::bridges
};

/// A network card that no rank may get.
struct UnusedNic {
  std::string name;    ///< "mlx5_4", "docker0"
  std::string reason;  ///< "port 1 is down", "virtual"
};

struct Node {
  std::string host;
  int packages = 0;
  std::vector<NumaNode> numa_nodes;
  std::vector<std::vector<double>> numa_distance;  ///< hops-like; empty: all equal
  std::vector<Core> cores;                         ///< in hwloc's logical order
  PuSet allowed;                                   ///< PUs the cgroup allows
  std::vector<Device> devices;                     ///< sorted by bus id, partition
  std::vector<Nic> nics;                           ///< usable ones only, sorted by name
  std::vector<UnusedNic> unused_nics;              ///< and those left out, sorted by name
};

}  // namespace berth::model
