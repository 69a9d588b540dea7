// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <launcher/launcher.hpp>

namespace {

using namespace berth;

TEST(LauncherSiblings, AreTheProcessesThatTheLauncherStarted) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int const own = ::getpid();
  std::vector<int> pids(static_cast<std::size_t>(size));
  MPI_Allgather(&own, 1, MPI_INT, pids.data(), 1, MPI_INT, MPI_COMM_WORLD);
  launcher::Step const step = launcher::read(base::Environment::process());
  EXPECT_EQ(step.size, size);
  EXPECT_EQ(launcher::sibling_pids(step), pids);
  // Nobody may leave while others still look for it.
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
