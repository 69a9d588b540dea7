// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <berth/placement.hpp>

/// What `berth map` shows, as plain values. Filled by cli, written by json and report.
namespace berth::model {

/// The device of one rank.
struct MapDevice {
  int index = -1;      ///< among the host's devices by bus id; -1: not known
  std::string bus_id;  ///< "0000:07:00.0"
  int partition = 0;   ///< several devices on one bus id
  std::string vendor;  ///< PCI vendor id "10de"; empty: not known
  int numa = -1;       ///< OS index of its NUMA node; -1: not known
};

/// One rank and its place.
struct MapRank {
  int rank = -1;                    ///< in the job
  Placement placement;              ///< where it sits
  std::optional<MapDevice> device;  ///< absent: the rank has none
};

/// One host of the plan.
struct MapHost {
  std::string name;            ///< host name, or "node0" for a file
  std::string topology;        ///< the XML file; empty: this machine
  std::string summary;         ///< "2 packages, 2 NUMA nodes, 112 cores"; empty: not known
  int numa_nodes = 0;          ///< NUMA nodes with memory
  int devices = 0;             ///< devices of the host, used or not
  std::vector<MapRank> ranks;  ///< by rank
};

/// The plan of a job.
struct MapReport {
  double cost = 0;  ///< sum over the ranks, weighted hops
  /// The same for the places that the launcher gave; absent: it bound nobody, or no rank runs.
  std::optional<double> launcher_cost;
  std::vector<MapHost> hosts;
};

}  // namespace berth::model
