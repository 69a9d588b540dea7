// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <roster/attendance.hpp>

namespace {

using namespace berth;
using testing::HasSubstr;
using testing::IsEmpty;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void everybody() {
  MPI_Barrier(MPI_COMM_WORLD);
}

launcher::Step step() {
  return launcher::read(base::Environment::process());
}

TEST(Attendance, NamesNobodyWhenAllHaveCome) {
  roster::Attendance here(step(), "n1");
  everybody();
  EXPECT_THAT(here.look(false), IsEmpty());
  EXPECT_THAT(here.look(true), IsEmpty());
  everybody();
}

TEST(Attendance, NamesTheRankThatHasNotComeOnceTheDeadlineIsOver) {
  int const absent = world_size() - 1;
  if (world_rank() == absent) {
    everybody();
    everybody();
    return;
  }
  roster::Attendance here(step(), "n1");
  everybody();
  EXPECT_THAT(here.look(false), IsEmpty());
  auto const blames = here.look(true);
  ASSERT_EQ(blames.size(), 1U);
  EXPECT_EQ(blames.front().rank, absent);
  EXPECT_EQ(blames.front().kind, "missing");
  EXPECT_EQ(blames.front().host, "n1");
  EXPECT_THAT(blames.front().detail, HasSubstr("has not come to the roll call"));
  everybody();
}

TEST(Attendance, CountsTheRanksOfASmallerCommunicatorAlone) {
  // All but the last rank, in reverse order; the last one does not come and is not meant.
  int const absent = world_size() - 1;
  if (world_rank() == absent) {
    everybody();
    everybody();
    return;
  }
  roster::Attendance here(step(), "n1");
  std::vector<int> members(static_cast<std::size_t>(absent));
  std::iota(members.rbegin(), members.rend(), 0);
  here.set_members(members);
  everybody();
  EXPECT_THAT(here.look(true), IsEmpty());
  everybody();
}

TEST(Attendance, LetsExactlyOneRankOfTheHostSpeak) {
  roster::Attendance here(step(), "n1");
  everybody();
  here.look(true);
  int const mine = here.is_speaker() ? 1 : 0;
  int speakers = 0;
  everybody();  // nobody speaks, which would count as having gone, before all have asked
  MPI_Allreduce(&mine, &speakers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(speakers, 1);
  if (mine == 1) here.spoken();
  EXPECT_TRUE(mine == 1 || here.wait_for_speaker());
  everybody();
}

TEST(Attendance, ListsAtRankZeroWhoHasNotAnswered) {
  roster::Attendance here(step(), "n1");
  everybody();
  auto const answers = std::make_shared<roster::Answers>(3);
  (*answers)[0].store(true);
  (*answers)[2].store(true);
  here.set_answers(answers);
  auto const blames = here.look(true);
  ASSERT_EQ(blames.size(), 1U);
  EXPECT_EQ(blames.front().rank, 1);
  everybody();
}

}  // namespace
