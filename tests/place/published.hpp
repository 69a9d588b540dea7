// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <model/node.hpp>

/// Machines with the published shapes of well-known ones.
namespace berth::test {

/// 2 packages of 56 cores with 2 threads; 8 GPUs, each behind a switch with its own card; 4 cards
/// for storage elsewhere.
model::Node dgx_h100();
/// 1 package, 4 NUMA nodes of 2 L3 groups of 8 cores with 2 threads; 8 GPU dies, each beside one L3
/// group; 4 cards at the root ports of the odd dies.
model::Node frontier();
/// 4 packages that are GPU and 24 cores with 2 threads at once, each with a card.
model::Node mi300a();
/// 2 packages of 22 cores with 4 threads, two to an L3 group; 4 GPUs whose memory is NUMA nodes;
/// two 2-port cards in other PCI domains.
model::Node power9();
/// 2 packages of 2 NUMA nodes of 24 cores; 4 switches, each with 2 GPUs and 2 cards, whose order is
/// not that of the NUMA nodes.
model::Node ndv4();
/// 2 packages of 48 cores; 8 GPUs, each behind a switch with 4 cards.
model::Node p5();
/// 2 packages of 72 cores; 4 GPUs, each behind a switch with 2 cards, and 8 more cards elsewhere;
/// GPU memory is NUMA nodes.
model::Node gb200();
/// 2 packages of 4 NUMA nodes of 14 cores with 2 threads; GPUs on nodes 3, 1, 7, 5; a 2-port card
/// and two faster ones; none beside the third GPU.
model::Node ipa20();
/// 2 packages of 4 NUMA nodes of 6 cores with 2 threads; 4 GPUs on nodes 1, 2, 5, 7; one card on 3.
model::Node corona();
/// 2 packages of 4 NUMA nodes of 16 cores; 1, 2, 1, 2, 1, 1 GPUs on nodes 1, 2, 3, 5, 6, 7; one
/// card on node 4.
model::Node rome_uneven();
/// 1 package of 68 cores with 4 threads; 4 NUMA nodes of 18, 18, 16, 16 cores, each with a second
/// node of fast memory; one card.
model::Node knl_flat();
/// 6 fast cores with 2 threads, 8 slow ones with one; 1 GPU; a wireless interface.
model::Node laptop();

}  // namespace berth::test
