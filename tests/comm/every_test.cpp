// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// Every collective, groups, calls started ahead and split, through the public interface on every
// way to carry data. Values are whole numbers that each type holds, so results are exact.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "world.hpp"

namespace berth::test {
namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::size_t counts[] = {0, 1, 3, 64, 1021, 70001};

/// Element i of what `rank` contributes.
std::int64_t value(int rank, std::size_t i) {
  return (rank + 1) * 1000003LL + static_cast<std::int64_t>(i) * 7 - 5;
}

Numbers numbers(int rank, std::size_t count) {
  Numbers all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = value(rank, i);
  return all;
}

std::int64_t sum_of(int ranks, std::size_t i) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value(rank, i);
  return sum;
}

/// Elements of `found` that are not `wanted(i)`.
template <class F>
std::size_t wrong(Numbers const& found, F const& wanted) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != wanted(i) ? 1 : 0;
  return wrong;
}

class Every : public testing::TestWithParam<Way> {};

TEST_P(Every, RootedCollectivesGiveTheRootTheResult) {
  Communicator comm = open(GetParam());
  for (std::size_t const count : counts) {
    for (int const root : {0, comm.size() - 1}) {
      Numbers const in = numbers(comm.rank(), count);
      Numbers out(count, -1);
      comm.reduce(in.data(), out.data(), count, Op::sum, root);
      bool const is_root = comm.rank() == root;
      EXPECT_EQ(wrong(out, [&](std::size_t i) { return is_root ? sum_of(comm.size(), i) : -1; }),
                0U)
          << count << " elements to rank " << root;
      Numbers sent = is_root ? in : out;
      comm.broadcast(sent.data(), count, root);
      EXPECT_EQ(wrong(sent, [&](std::size_t i) { return value(root, i); }), 0U);
    }
  }
  comm.close();
}

TEST_P(Every, PartsComeFromAndGoToTheirRanks) {
  Communicator comm = open(GetParam());
  auto const size = static_cast<std::size_t>(comm.size());
  auto const me = static_cast<std::size_t>(comm.rank());
  for (std::size_t const count : counts) {
    SCOPED_TRACE(count);
    auto const part = [&](std::size_t i) { return static_cast<int>(i / count); };
    Numbers gathered(size * count);
    comm.all_gather(numbers(comm.rank(), count).data(), gathered.data(), count);
    EXPECT_EQ(wrong(gathered, [&](std::size_t i) { return value(part(i), i % count); }), 0U);
    Numbers scattered(count);
    comm.reduce_scatter(numbers(comm.rank(), size * count).data(), scattered.data(), count);
    EXPECT_EQ(wrong(scattered, [&](std::size_t i) { return sum_of(comm.size(), me * count + i); }),
              0U);
    Numbers swapped = numbers(comm.rank(), size * count);
    comm.all_to_all(swapped.data(), swapped.data(), count);
    EXPECT_EQ(wrong(swapped, [&](std::size_t i) { return value(part(i), me * count + i % count); }),
              0U);
  }
  comm.close();
}

TEST_P(Every, ARingOfSendsInAGroupArrives) {
  Communicator comm = open(GetParam());
  int const next = (comm.rank() + 1) % comm.size();
  int const before = (comm.rank() + comm.size() - 1) % comm.size();
  for (std::size_t const count : counts) {
    Numbers const in = numbers(comm.rank(), count);
    Numbers out(count);
    comm.group_start();
    comm.send(in.data(), count, next);
    comm.receive(out.data(), count, before);
    comm.group_end();
    EXPECT_EQ(wrong(out, [&](std::size_t i) { return value(before, i); }), 0U) << count;
  }
  comm.close();
}

TEST_P(Every, SmallReductionsOfAGroupAreEachRight) {
  Communicator comm = open(GetParam());
  std::vector<Numbers> all;
  for (std::size_t i = 0; i < 50; ++i) all.push_back(numbers(comm.rank(), 1 + i * 13 % 90));
  comm.group_start();
  for (Numbers& one : all) comm.all_reduce(std::span(one));
  comm.group_end();
  for (Numbers const& one : all)
    EXPECT_EQ(wrong(one, [&](std::size_t i) { return sum_of(comm.size(), i); }), 0U);
  comm.close();
}

TEST_P(Every, CallsStartedAheadAreMadeInOrder) {
  Communicator comm = open(GetParam());
  Numbers first = numbers(comm.rank(), 1021);
  Numbers second(1021);
  Request one = comm.all_reduce_async(first.data(), first.data(), 1021, Type::int64, Op::sum);
  Request two =
      comm.reduce_async(first.data(), second.data(), 1021, Type::int64, Op::max, comm.size() - 1);
  Request three = comm.barrier_async();
  three.wait();
  EXPECT_TRUE(one.test());
  EXPECT_TRUE(two.test());
  auto const sum = [&](std::size_t i) { return sum_of(comm.size(), i); };
  EXPECT_EQ(wrong(first, sum), 0U);
  if (comm.rank() == comm.size() - 1) {
    EXPECT_EQ(wrong(second, sum), 0U);
  }
  comm.close();
}

TEST_P(Every, ATestIsTrueOnlyWhenTheCallIsComplete) {
  Communicator comm = open(GetParam());
  int const late = comm.size() - 1;
  Numbers data = numbers(comm.rank(), 1021);
  std::optional<Request> request;
  auto const start = [&] {
    request = comm.broadcast_async(data.data(), data.size(), Type::int64, late);
  };
  if (comm.rank() != late) {
    start();
    EXPECT_FALSE(request->test()) << "one rank has not started the call";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == late) start();
  while (!request->test()) {
  }
  EXPECT_EQ(wrong(data, [&](std::size_t i) { return value(late, i); }), 0U);
  comm.close();
}

TEST_P(Every, SplitGivesCommunicatorsOfTheirOwn) {
  Communicator comm = open(GetParam());
  int const color = comm.rank() % 2;
  std::optional<Communicator> half = comm.split(color, -comm.rank());
  ASSERT_TRUE(half.has_value());
  int const members = (comm.size() + 1 - color) / 2;
  EXPECT_EQ(half->size(), members);
  EXPECT_EQ(half->rank(), members - 1 - comm.rank() / 2) << "ordered by key";
  for (int round = 0; round < 20; ++round) {  // both in turn, with different numbers of calls
    std::int64_t mine = comm.rank();
    half->all_reduce(std::span(&mine, 1));
    std::int64_t wanted = 0;
    for (int rank = color; rank < comm.size(); rank += 2) wanted += rank;
    EXPECT_EQ(mine, wanted);
    if (color == 0) half->barrier();
    std::int64_t all = 1;
    comm.all_reduce(std::span(&all, 1));
    EXPECT_EQ(all, comm.size());
  }
  half->close();
  std::optional<Communicator> some = comm.split(comm.rank() == 0 ? -1 : 0);
  EXPECT_EQ(some.has_value(), comm.rank() != 0);
  if (some) some->close();
  comm.close();
}

TEST_P(Every, AveragesOfSixteenBitFloatsAreRoundedOnce) {
  Communicator comm = open(GetParam());
  std::vector<bfloat16> ones(300, bfloat16{0x3F80});
  comm.all_reduce(ones.data(), ones.data(), ones.size(), Op::avg);
  std::size_t wrong = 0;
  for (bfloat16 const one : ones) wrong += one.bits != 0x3F80 ? 1 : 0;
  EXPECT_EQ(wrong, 0U);
  comm.close();
}

TEST_P(Every, SumsOfBytesWrap) {
  Communicator comm = open(GetParam());
  std::vector<std::int8_t> numbers(300);
  std::vector<std::uint8_t> naturals(300);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::int8_t>(100 - 13 * comm.rank() - static_cast<int>(i % 7));
    naturals[i] = static_cast<std::uint8_t>(200 + comm.rank());
  }
  comm.all_reduce(std::span(numbers));
  comm.all_reduce(std::span(naturals));
  int natural = 0;
  for (int rank = 0; rank < comm.size(); ++rank) natural += 200 + rank;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    int number = 0;
    for (int rank = 0; rank < comm.size(); ++rank)
      number += 100 - 13 * rank - static_cast<int>(i % 7);
    wrong += numbers[i] != static_cast<std::int8_t>(number) ? 1 : 0;
    wrong += naturals[i] != static_cast<std::uint8_t>(natural) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
  comm.close();
}

INSTANTIATE_TEST_SUITE_P(Ways, Every, testing::ValuesIn(ways), [](auto const& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace berth::test
