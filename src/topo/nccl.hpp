// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <model/node.hpp>
#include <topo/bus_id.hpp>

/// NCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE). Private to the room.
namespace berth::topo {

/// A CPU element.
struct NcclCpu {
  int numa = -1;     ///< OS index
  model::PuSet pus;  ///< may be empty
};

/// A PCI function that carries a GPU.
struct NcclGpu {
  BusId id;
  int cpu = 0;  ///< index into NcclSystem::cpus
  std::string vendor;
  std::vector<std::string> bridges;  ///< nearest first
  int partitions = 1;
};

/// A network card, or one of several names of one.
struct NcclNic {
  std::string name;    ///< empty: the file does not tell
  std::string bus_id;  ///< empty: not on PCI
  int cpu = 0;
  double gbps = 0;
  bool fabric = false;
  std::vector<std::string> bridges;
};

/// The parts of a file that placement needs.
struct NcclSystem {
  std::vector<NcclCpu> cpus;
  std::vector<NcclGpu> gpus;
  std::vector<NcclNic> nics;
};

/// "0000ffff,ffffffff": words of 32 bits in hexadecimal, the highest first.
/// @throws Error bad_input for anything else, or a processor above 65535
model::PuSet parse_affinity(std::string_view text);
/// @throws Error bad_input with the reason alone
NcclSystem parse_nccl(std::string_view text);
/// A machine of its own; see read_xml for what is assumed.
/// @throws Error bad_input with the reason alone, when no CPU has an affinity or two share one
model::Node node_from_nccl(NcclSystem const& system);
/// See complete_from_nccl(node, path).
void complete(model::Node& node, NcclSystem const& system);

}  // namespace berth::topo
