// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>
#include <support/random_text.hpp>

#include <berth/error.hpp>
#include <launcher/launcher.hpp>

namespace {

using namespace berth;
using launcher::expand_hosts;
using Names = std::vector<std::string>;

std::string refusal(std::string const& list) {
  try {
    static_cast<void>(expand_hosts(list));
    return {};
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    return error.what();
  }
}

TEST(LauncherHosts, ExpandRangesAndPlainNames) {
  EXPECT_EQ(expand_hosts("login"), Names{"login"});
  EXPECT_EQ(expand_hosts("a,b.example.org,c_1"), (Names{"a", "b.example.org", "c_1"}));
  EXPECT_EQ(expand_hosts("n[1-3,7],login"), (Names{"n1", "n2", "n3", "n7", "login"}));
  EXPECT_EQ(expand_hosts("n[8-11]"), (Names{"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(expand_hosts("[1-2]"), (Names{"1", "2"}));
}

TEST(LauncherHosts, KeepLeadingZeros) {
  EXPECT_EQ(expand_hosts("n[01-03]"), (Names{"n01", "n02", "n03"}));
  EXPECT_EQ(expand_hosts("n[098-101]"), (Names{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expand_hosts("n[007,8]"), (Names{"n007", "n8"}));
  EXPECT_EQ(expand_hosts("n[0]"), Names{"n0"});
}

TEST(LauncherHosts, CombineSeveralBracketsAndEndings) {
  EXPECT_EQ(expand_hosts("a[1-2]b[3-4]"), (Names{"a1b3", "a1b4", "a2b3", "a2b4"}));
  EXPECT_EQ(expand_hosts("n[1-2]-ib,x"), (Names{"n1-ib", "n2-ib", "x"}));
  EXPECT_EQ(expand_hosts("r[1-2][01-02]"), (Names{"r101", "r102", "r201", "r202"}));
}

TEST(LauncherHosts, RefuseWhatIsNoList) {
  for (char const* list : {"",         ",",      "a,",
                           ",a",       "a,,b",   "n[",
                           "n]",       "n[]",    "n[1",
                           "n1]",      "n[1-]",  "n[-1]",
                           "n[1-2-3]", "n[a]",   "n[1,]",
                           "n[3-1]",   "n[[1]]", "n[1[2]]",
                           "a b",      "a\nb",   "n[1-x]",
                           "n[ 1]",    "a/b",    "../etc",
                           "n\x01",    "\xff",   "n[99999999999999999999]",
                           "n[1-2],"})
    EXPECT_EQ(refusal(list).find("host list \""), 0U) << list;
}

TEST(LauncherHosts, NameTheReason) {
  EXPECT_EQ(refusal("n[3-1]"), "host list \"n[3-1]\": the range 3-1 runs backwards");
  EXPECT_EQ(refusal("n[1-2"), "host list \"n[1-2\": a bracket is not closed");
  EXPECT_EQ(refusal("n[x]"), "host list \"n[x]\": \"x\" is not a number or a range");
  EXPECT_EQ(refusal("a,,b"), "host list \"a,,b\": a name is empty");
  EXPECT_EQ(refusal("a b"), "host list \"a b\": \" \" cannot stand there");
}

TEST(LauncherHosts, EndAtTheirLimits) {
  EXPECT_EQ(expand_hosts("n[1-100000]").size(), 100'000U);
  for (char const* list :
       {"n[1-100001]", "n[0-999999999999999999]", "n[1-100000],x", "n[1-1000]x[1-1000]",
        "n[1-1000][1-1000][1-1000][1-1000][1-1000][1-1000]", "n[1-60000,1-60000]"})
    EXPECT_NE(refusal(list).find("more than 100000 names"), std::string::npos) << list;
  EXPECT_NE(refusal(std::string(256, 'a')).find("longer than 255 bytes"), std::string::npos);
  EXPECT_NE(refusal("n[" + std::string(300, '0') + "1]").find("longer than 255"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(2'000'000, 'a')).find("longer than 1 MiB"), std::string::npos);
  std::string brackets;
  for (int i = 0; i < 200'000; ++i) brackets += "[1]";
  EXPECT_NE(refusal(brackets).find("host list"), std::string::npos);
}

TEST(LauncherHosts, SurviveRandomTexts) {
  test::RandomText texts("n1234567890a[[]],,--");
  int good = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string text = texts.next();
    // Short ones reach further into the grammar.
    text.resize(std::min<std::size_t>(text.size(), static_cast<std::size_t>(i) % 12));
    std::string const message = refusal(text);
    if (message.empty()) ++good;
    EXPECT_LT(message.size(), 400U);
  }
  EXPECT_GT(good, 100);
}

}  // namespace
