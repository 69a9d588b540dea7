// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <berth/error.hpp>
#include <sys/affinity.hpp>

namespace berth {
namespace {

TEST(CpuList, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(sys::parse_cpulist("0-3,8"), (model::PuSet{0, 1, 2, 3, 8}));
  EXPECT_EQ(sys::parse_cpulist(" 5\n"), (model::PuSet{5}));
  EXPECT_TRUE(sys::parse_cpulist("\n").empty());
  EXPECT_EQ(sys::parse_cpulist("0-65535").size(), 65536U);
}

TEST(CpuList, IsSortedAndWithoutDuplicates) {
  EXPECT_EQ(sys::parse_cpulist("8,0-2,1-3,8"), (model::PuSet{0, 1, 2, 3, 8}));
  EXPECT_EQ(sys::format_cpulist({3, 1, 2, 2, 9}), "1-3,9");
  EXPECT_EQ(sys::format_cpulist({}), "");
}

TEST(CpuList, RefusesEverythingElse) {
  for (char const* text : {"a", "-1", "1-", "-", "3-1", "1,,2", "1,", "0x3", "1-2-3", "65536",
                           "99999999999999999999", "0-31:2/4", "1 2"}) {
    EXPECT_THROW(sys::parse_cpulist(text), Error) << text;
  }
}

TEST(CpuList, NamesTextAndReasonInTheError) {
  try {
    sys::parse_cpulist("0-3,x");
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    EXPECT_NE(std::string(error.what()).find("\"0-3,x\""), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("\"x\""), std::string::npos);
  }
}

TEST(CpuList, SurvivesTheRoundTrip) {
  for (char const* text : {"0", "0-3", "0-3,8", "1,3,5", "0-13,28-41"}) {
    EXPECT_EQ(sys::format_cpulist(sys::parse_cpulist(text)), text);
  }
}

TEST(Affinity, MovesTheThreadAndBack) {
  model::PuSet const before = sys::get_affinity();
  ASSERT_FALSE(before.empty());
  sys::set_affinity({before.front()});
  EXPECT_EQ(sys::get_affinity(), model::PuSet{before.front()});
  sys::set_affinity(before);
  EXPECT_EQ(sys::get_affinity(), before);
}

TEST(Affinity, RefusesCpusThatThereAreNot) {
  model::PuSet const before = sys::get_affinity();
  EXPECT_THROW(sys::set_affinity({}), Error);
  EXPECT_THROW(sys::set_affinity({-1}), Error);
  EXPECT_THROW(sys::set_affinity({65536}), Error);
  EXPECT_THROW(sys::set_affinity({before.front(), 65535}), Error);
  sys::set_affinity(before);
}

TEST(MemoryPolicy, RefusesNodesThatCannotBe) {
  EXPECT_FALSE(sys::prefer_memory({-1}));
  EXPECT_FALSE(sys::prefer_memory({1 << 20}));
  // Whether the kernel grants a policy at all is its own affair; asking must not harm.
  static_cast<void>(sys::prefer_memory({0}));
  static_cast<void>(sys::prefer_memory({}));
}

}  // namespace
}  // namespace berth
