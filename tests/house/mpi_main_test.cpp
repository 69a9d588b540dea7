// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

int world_rank() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

TEST(MpiMain, GivesEveryRankTheSameWorld) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int ranks = 1;

  MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  EXPECT_EQ(ranks, size);
}

// The next two are started on purpose by house.mpi_main_names_*.
TEST(MpiMain, DISABLED_FailsOnRankOne) {
  EXPECT_NE(world_rank(), 1);
}

TEST(MpiMain, DISABLED_HangsOnRankOne) {
  if (world_rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
}

}  // namespace
