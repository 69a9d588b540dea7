// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <model/node.hpp>
#include <model/plan.hpp>

/// Machines made by hand.
namespace berth::test {

/// Shape of a machine: every NUMA node has the same number of cores; the first threads of all cores
/// come first in the numbering, as on x86.
struct Shape {
  int packages = 1;
  int numa_per_package = 1;
  int cores_per_numa = 1;
  int threads = 1;
};

model::Node machine(Shape const& shape);
/// Adds a GPU beside that NUMA node; -1: locality not known.
void add_gpu(model::Node& node, std::string const& bus_id, int numa,
             std::vector<std::string> const& bridges = {});
/// Adds a fabric card.
void add_nic(model::Node& node, std::string const& name, int numa,
             std::vector<std::string> const& bridges = {}, double gbps = 400);
/// Two packages of 56 cores with two threads; eight GPUs, each behind a switch with its own card.
model::Node dgx();
/// Ranks that may run on all allowed PUs.
std::vector<model::LocalRank> ranks(model::Node const& node, int count);
/// Ranks that a launcher has bound to packages in turn, in blocks, because somebody asked for it.
std::vector<model::LocalRank> ranks_bound_to_packages(model::Node const& node, int count);
/// Every policy there is.
std::vector<model::Policy> policies();
/// A policy for a message.
std::string words(model::Policy const& policy);

}  // namespace berth::test
