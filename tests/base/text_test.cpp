// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <support/random_text.hpp>

#include <base/names.hpp>
#include <base/text.hpp>

namespace {

using namespace berth;

TEST(TextSplit, KeepsEmptyPieces) {
  EXPECT_EQ(base::split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(base::split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
}

TEST(TextJoin, IsTheOppositeOfSplit) {
  EXPECT_EQ(base::join({}, ", "), "");
  EXPECT_EQ(base::join({"a"}, ", "), "a");
  EXPECT_EQ(base::join({"a", "", "b"}, ","), "a,,b");
}

TEST(TextTrim, TakesBlanksFromBothEnds) {
  EXPECT_EQ(base::trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(base::trim(" \n "), "");
  EXPECT_EQ(base::trim(""), "");
}

TEST(TextNearest, FindsTheNameThatIsMeant) {
  std::vector<std::string> const variables = {"BERTH_BACKEND", "BERTH_BIND", "BERTH_LOG"};
  std::vector<std::string> const verbs = {"info", "map", "verify", "bench", "all_reduce"};
  EXPECT_EQ(base::nearest("BERTH_BAKEND", variables), "BERTH_BACKEND");
  EXPECT_EQ(base::nearest("BERTH_BCAKEND", variables), "BERTH_BACKEND");
  EXPECT_EQ(base::nearest("BERTH_LOGS", variables), "BERTH_LOG");
  EXPECT_EQ(base::nearest("VERIFY", verbs), "verify");
  EXPECT_EQ(base::nearest("vreify", verbs), "verify");
  EXPECT_EQ(base::nearest("allreduce", verbs), "all_reduce");
  EXPECT_EQ(base::nearest("mpa", verbs), "map");
}

TEST(TextNearest, OffersNothingForAnotherWord) {
  std::vector<std::string> const verbs = {"info", "map", "verify", "bench"};
  for (char const* word : {"", "x", "xy", "doctor", "help", "something else"})
    EXPECT_EQ(base::nearest(word, verbs), "") << word;
  EXPECT_EQ(base::nearest(std::string(100'000, 'a'), verbs), "");
  EXPECT_EQ(base::nearest("map", {}), "");
  EXPECT_EQ(base::nearest("a", {"", "b"}), "");
}

TEST(TextPrintable, ReplacesWhatConfusesATerminal) {
  EXPECT_EQ(base::printable("plain text"), "plain text");
  EXPECT_EQ(base::printable("a\x1b[31mb\x07\n\tc\x7f"), "a?[31mb???c?");
  EXPECT_EQ(base::printable("\xc2\x9b[m"), "?[m");        // a C1 control
  EXPECT_EQ(base::printable("a\xe2\x80\xae z"), "a? z");  // right-to-left override
  EXPECT_EQ(base::printable("\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2"),
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2");
  EXPECT_EQ(base::printable(std::string("a\0b", 3)), "a?b");
}

TEST(TextPrintable, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(base::printable("\xff\xfe"), "??");
  EXPECT_EQ(base::printable("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(base::printable("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(base::printable("\xf4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(base::printable("a\xe2\x82"), "a??");          // cut
}

TEST(TextPrintable, CutsAtACharacterBoundary) {
  EXPECT_EQ(base::printable("abcdef", 3), "abc");
  EXPECT_EQ(base::printable("ab\xe2\x82\xac", 4), "ab");
  EXPECT_EQ(base::printable("ab\xe2\x82\xac", 5), "ab\xe2\x82\xac");
  EXPECT_EQ(base::printable("abc", 0), "");
}

TEST(TextPrintable, IsStableForRandomBytes) {
  test::RandomText texts("\x1b\xe2\x82\xac\xf0\x9f\x9a\xa2\xc3\xa9 aB\xff");
  for (int i = 0; i < 10'000; ++i) {
    std::string const once = base::printable(texts.next(), 30);
    EXPECT_LE(once.size(), 30U);
    EXPECT_EQ(base::printable(once, 30), once);
    EXPECT_LE(base::nearest(once, {"verify", "bench"}).size(), 6U);
  }
}

template <class Enum>
void expect_names_lead_back() {
  EXPECT_GE(base::all<Enum>().size(), 2U);
  for (Enum const value : base::all<Enum>()) {
    EXPECT_FALSE(base::name(value).empty());
    EXPECT_EQ(base::parse_name<Enum>(base::name(value)), value);
  }
  for (char const* word : {"", "unknown", "SUM", "sum ", "gpu"})
    EXPECT_EQ(base::parse_name<Enum>(word), std::nullopt) << word;
}

TEST(Names, LeadBackToTheirValues) {
  expect_names_lead_back<Type>();
  expect_names_lead_back<Op>();
  expect_names_lead_back<Backend>();
  expect_names_lead_back<OnLost>();
}

}  // namespace
