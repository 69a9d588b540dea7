// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <base/clock.hpp>

namespace {

using berth::base::SteadyClock;
using berth::base::TickBudget;
using namespace std::chrono_literals;

TEST(SteadyClockNow, NeverRunsBackwards) {
  SteadyClock const clock;
  auto const first = clock.now();
  EXPECT_GE(clock.now(), first);
}

TEST(TickBudgetTick, AddsUpOrdinaryTicks) {
  TickBudget budget(3s, 100ms);
  budget.restart(10s);
  for (int i = 1; i <= 29; ++i) budget.tick(10s + i * 100ms);
  EXPECT_EQ(budget.spent(), 2900ms);
  EXPECT_FALSE(budget.expired());
  budget.tick(13s);
  EXPECT_TRUE(budget.expired());
}

TEST(TickBudgetTick, CountsASuspensionOfTenSecondsAsOneCap) {
  TickBudget budget(3s, 100ms);
  budget.restart(0s);
  budget.tick(50ms);
  budget.tick(10050ms);
  EXPECT_EQ(budget.spent(), 150ms);
  EXPECT_FALSE(budget.expired());
}

TEST(TickBudgetSkip, LetsTimePassUncounted) {
  TickBudget budget(3s, 1s);
  budget.restart(0s);
  for (int i = 1; i <= 100; ++i) budget.skip(std::chrono::seconds(i));
  EXPECT_EQ(budget.spent(), 0s);
  budget.tick(100s + 500ms);
  EXPECT_EQ(budget.spent(), 500ms);
}

TEST(TickBudgetRestart, ForgetsWhatWasSpent) {
  TickBudget budget(1s, 1s);
  budget.restart(0s);
  budget.tick(1s);
  EXPECT_TRUE(budget.expired());
  budget.restart(1s);
  EXPECT_FALSE(budget.expired());
}

TEST(TickBudgetExpired, IsNeverTrueWithoutALimit) {
  TickBudget budget(0s, 1h);
  budget.restart(0s);
  budget.tick(1h);
  EXPECT_FALSE(budget.expired());
}

}  // namespace
