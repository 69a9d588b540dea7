// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <model/node.hpp>

/// Threads of this process other than the calling one.
namespace berth::sys {

/// Those that have computed: 50 ms of processor time or more. Helper threads of an MPI, which sleep
/// on sockets, do not come to that.
std::vector<int> busy_threads();
/// Moves the thread `id`; false when it has ended or the kernel refuses.
bool set_affinity_of(int id, model::PuSet const& pus) noexcept;

}  // namespace berth::sys
