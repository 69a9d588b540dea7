// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <model/node.hpp>

/// How far things are from each other.
namespace berth::place {

/// Hops between two NUMA nodes (indices): the machine's own table, otherwise 1 inside a package and
/// 2 across; 0 when either is not known.
double numa_hops(model::Node const& node, int from, int to);
/// Hops between a core and a device. A device that is known by its package alone is 2 hops from the
/// cores of another.
double device_hops(model::Node const& node, model::Core const& core, model::Device const& device);

/// Class of the path between a device and a network card, best first but for `unk`, which ranks
/// between node and sock.
enum class Path { pix, pxb, phb, node, sock, sys, unk };

/// "PIX" and so on.
std::string_view path_name(Path path);
/// Its weight in the cost: 0 1 2 3 4 5, unk 3.5.
double path_weight(Path path);
/// Where the card is, as words for a reason: "behind the same switch".
std::string_view path_words(Path path);

/// From the PCI bridges above both, otherwise from their NUMA nodes and packages.
Path path_between(model::Node const& node, model::Device const& device, model::Nic const& nic);
/// The same between two devices.
Path path_between(model::Node const& node, model::Device const& a, model::Device const& b);
/// From a NUMA node (index): node, sock, sys or unk.
Path path_from_numa(model::Node const& node, int numa, model::Nic const& nic);

}  // namespace berth::place
