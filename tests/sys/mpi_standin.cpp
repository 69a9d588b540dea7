// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "mpi_standin.hpp"

#include <poll.h>

namespace berth::test {

void spin_until(std::atomic<bool> const& done) {
  while (!done.load(std::memory_order_relaxed)) {
  }
}

void sleep_until(std::atomic<bool> const& done) {
  while (!done.load(std::memory_order_relaxed)) poll(nullptr, 0, 20);
}

}  // namespace berth::test
