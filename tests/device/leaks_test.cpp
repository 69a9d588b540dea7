// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// Communicators of the nccl backend, made and closed or thrown away again and again: nothing of
// them is left in the process.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <mpi.h>

#include <comm/world.hpp>

namespace berth::test {
namespace {

constexpr Way nccl_way = {"nccl", Backend::nccl, nullptr};

/// Descriptors and threads of this process.
struct Held {
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

Held held() {
  auto const entries = [](char const* folder) {
    std::filesystem::directory_iterator const all(folder);
    return std::distance(begin(all), end(all));
  };
  return {entries("/proc/self/fd"), entries("/proc/self/task")};
}

/// No more than before. Threads that were told to end may take a moment, also those from before.
bool is_back_at(Held const& before) {
  for (int i = 0; i < 200; ++i) {
    Held const now = held();
    if (everywhere(now.descriptors <= before.descriptors && now.threads <= before.threads))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void one_round(int round) {
  Communicator comm = open(nccl_way);
  std::int64_t one = 1;
  comm.all_reduce(std::span(&one, 1));
  ASSERT_EQ(one, comm.size());
  if (round % 2 == 0) {
    comm.close();
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    comm.abort();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Leaks, AreNoneAfterManyRounds) {
  char const* const text = std::getenv("DEVICE_TEST_ROUNDS");
  int const rounds = text == nullptr ? 40 : std::atoi(text);
  for (int round = 0; round < 4; ++round) one_round(round);
  Held const before = held();
  for (int round = 0; round < rounds; ++round) one_round(round);
  EXPECT_TRUE(is_back_at(before)) << before.descriptors << " descriptors and " << before.threads
                                  << " threads before, " << held().descriptors << " and "
                                  << held().threads << " after " << rounds << " rounds";
}

}  // namespace
}  // namespace berth::test
