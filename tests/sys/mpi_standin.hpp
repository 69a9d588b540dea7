// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

/// Two blocking calls of an MPI: one that spins, one that sleeps in the kernel.
namespace berth::test {

[[gnu::visibility("default")]] void spin_until(std::atomic<bool> const& done);
[[gnu::visibility("default")]] void sleep_until(std::atomic<bool> const& done);

}  // namespace berth::test
