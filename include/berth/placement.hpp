// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth {

/// Where a rank sits and why.
struct Placement {
  int host = -1;                  ///< index of the host among the job's hosts, by lowest rank
  int local_rank = -1;            ///< rank within the host, 0-based
  int local_size = 0;             ///< ranks on the host
  std::string device;             ///< PCI bus id "0000:1b:00.0" of the device; empty: none
  int partition = 0;              ///< which of several devices on that bus id (MIG, CPX), from 0
  int numa_node = -1;             ///< OS index of the NUMA node of the cores; -1: not known
  std::string cpus;               ///< PUs as a list, "0-13,28-41"; empty: not bound
  int cores = 0;                  ///< whole or part cores in `cpus`
  std::vector<int> memory_nodes;  ///< OS indices of NUMA nodes to allocate from; empty: any
  std::vector<std::string> nics;  ///< nearest network cards, best first; empty: none
  std::string
      nic_path;  ///< class of the path to nics[0]: PIX PXB PHB NODE SOCK SYS UNK; empty: none
  std::vector<std::string> flags;  ///< compromises, words of docs/placement.md; empty: none
  std::string reason;              ///< one line: why this place
  double cost = 0;                 ///< weighted hops; 0 is the best possible
};

}  // namespace berth
