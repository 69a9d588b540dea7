// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sys/child.hpp>
#include <sys/wait.h>

namespace berth {
namespace {

using sys::ChildEnd;

TEST(Child, ReturnsWhatTheWorkReturns) {
  std::string const large(3'000'000, 'x');
  auto const result = sys::run_in_child([&] { return std::string(large); }, {});
  EXPECT_EQ(result.end, ChildEnd::done);
  EXPECT_EQ(result.output, large);
  EXPECT_EQ(sys::run_in_child([] { return std::string(); }, {}).end, ChildEnd::done);
}

TEST(Child, CarriesTheMessageOfAnException) {
  auto const result =
      sys::run_in_child([]() -> std::string { throw std::runtime_error("no such luck"); }, {});
  EXPECT_EQ(result.end, ChildEnd::threw);
  EXPECT_EQ(result.output, "no such luck");
}

TEST(Child, MayCrash) {
  auto const result = sys::run_in_child([]() -> std::string { std::abort(); }, {});
  EXPECT_EQ(result.end, ChildEnd::signalled);
  EXPECT_EQ(result.number, SIGABRT);
  EXPECT_TRUE(result.output.empty());
}

TEST(Child, MayLeaveWithoutAnAnswer) {
  auto const result = sys::run_in_child([]() -> std::string { _exit(7); }, {});
  EXPECT_EQ(result.end, ChildEnd::exited);
  EXPECT_EQ(result.number, 7);
}

TEST(Child, IsKilledWhenItTakesTooLong) {
  sys::ChildLimits limits;
  limits.wall = std::chrono::milliseconds(50);
  auto const result = sys::run_in_child(
      []() -> std::string {
        for (;;) pause();
      },
      limits);
  EXPECT_EQ(result.end, ChildEnd::too_slow);
}

TEST(Child, IsKilledWhenItComputesTooLong) {
  sys::ChildLimits limits;
  limits.cpu = std::chrono::milliseconds(20);
  auto const result = sys::run_in_child(
      []() -> std::string {
        for (std::atomic<int> spins{0};;) ++spins;
      },
      limits);
  EXPECT_EQ(result.end, ChildEnd::too_slow);
}

TEST(Child, IsKilledWhenItSaysTooMuch) {
  sys::ChildLimits limits;
  limits.output_bytes = 1000;
  EXPECT_EQ(sys::run_in_child([] { return std::string(1000, 'x'); }, limits).end, ChildEnd::done);
  EXPECT_EQ(sys::run_in_child([] { return std::string(1001, 'x'); }, limits).end,
            ChildEnd::too_long);
}

TEST(Child, MayNotEatTheMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need their address space";
#endif
  sys::ChildLimits limits;
  limits.memory_bytes = 64UL << 20;
  auto const result = sys::run_in_child(
      [] { return std::to_string(std::vector<char>(256UL << 20, 'x').size()); }, limits);
  EXPECT_EQ(result.end, ChildEnd::threw);
}

TEST(Child, LeavesNoProcessBehind) {
  sys::run_in_child([] { return std::string("x"); }, {});
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace berth
