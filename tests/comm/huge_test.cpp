// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// More than 2^31 elements: counts are size_t all the way.
#include <fstream>
#include <memory>

#include <comm/data.hpp>
#include <comm/world.hpp>

namespace berth::test {
namespace {

constexpr std::size_t count = (std::size_t{1} << 31) + 3;

std::size_t available_gib() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::size_t kib = 0;
  while (file >> word) {
    if (word != "MemAvailable:") continue;
    file >> kib;
    break;
  }
  return kib >> 20;
}

class Huge : public testing::Test {
 protected:
  void SetUp() override {
    std::size_t const wanted = (count * 4 >> 30) * static_cast<std::size_t>(world_size()) + 3;
    std::size_t const there = available_gib();
    if (!everywhere(there >= wanted))
      GTEST_SKIP() << "needs " << wanted << " GiB of free memory, has " << there;
    data_ = std::make_unique_for_overwrite<std::int32_t[]>(count);
  }
  std::unique_ptr<std::int32_t[]> data_;
};

std::int32_t pattern(int rank, std::size_t index) {
  return static_cast<std::int32_t>((index * 2654435761U) ^ (static_cast<std::size_t>(rank) << 20));
}

TEST_F(Huge, AllReduceInPlace) {
  Communicator comm = open(ways[0], MPI_COMM_WORLD, std::chrono::seconds(120));
  for (std::size_t i = 0; i < count; ++i) data_[i] = pattern(comm.rank(), i);
  comm.all_reduce(data_.get(), data_.get(), count, Op::sum);
  std::size_t wrong = 0;
  std::size_t first = count;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t sum = 0;
    for (int rank = 0; rank < comm.size(); ++rank)
      sum += static_cast<std::uint32_t>(pattern(rank, i));
    if (data_[i] == static_cast<std::int32_t>(sum)) continue;
    if (wrong++ == 0) first = i;
  }
  EXPECT_EQ(wrong, 0U) << "first at " << first;
  comm.close();
}

void check_broadcast(Way const& way, std::int32_t* data) {
  Communicator comm = open(way, MPI_COMM_WORLD, std::chrono::seconds(120));
  int const root = comm.size() - 1;
  for (std::size_t i = 0; i < count; ++i) data[i] = comm.rank() == root ? pattern(7, i) : -1;
  comm.broadcast(data, count, root);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += data[i] == pattern(7, i) ? 0 : 1;
  EXPECT_EQ(wrong, 0U);
  comm.close();
}

TEST_F(Huge, Broadcast) {
  check_broadcast(ways[0], data_.get());
}

// Its all_reduce would need as much memory again inside MPI.
TEST_F(Huge, BroadcastByTheReference) {
  check_broadcast(ways[3], data_.get());
}

}  // namespace
}  // namespace berth::test
