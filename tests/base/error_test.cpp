// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <set>

#include <gtest/gtest.h>
#include <support/captured.hpp>
#include <support/random_text.hpp>

#include <base/env.hpp>
#include <base/error.hpp>

namespace {

using namespace berth;

TEST(ErrorTable, KnowsEveryCode) {
  EXPECT_STREQ(errc_name(Errc::no_driver), "no_driver");
  EXPECT_STREQ(errc_text(Errc::ok), "no error");
  EXPECT_EQ(exit_code(Errc::ok), 0);
  EXPECT_EQ(exit_code(Errc::lost), 1);
  EXPECT_EQ(exit_code(Errc::bad_configuration), 2);
  EXPECT_EQ(exit_code(Errc::no_device), 3);
  EXPECT_EQ(exit_code(Errc::timeout), 4);
  EXPECT_EQ(exit_code(Errc::internal), 5);
}

TEST(ErrorTable, HasDifferentNamesAndValuesInOrder) {
  std::set<std::string> names;
  int next = 0;
#define BERTH_X(name, value, exit, text)   \
  EXPECT_TRUE(names.insert(#name).second); \
  EXPECT_EQ(value, next++);                \
  EXPECT_LE(exit, 5);
  BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
}

TEST(ErrorTable, HasAnswersForValuesItDoesNotKnow) {
  auto const strange = static_cast<Errc>(4711);
  EXPECT_STREQ(errc_name(strange), "unknown");
  EXPECT_NE(errc_text(strange), nullptr);
  EXPECT_EQ(exit_code(strange), 5);
}

TEST(ErrorFail, ThrowsCodeRankAndOneLine) {
  try {
    base::fail(Errc::mismatch, "counts\ndiffer\r\n", 3);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::mismatch);
    EXPECT_EQ(error.rank(), 3);
    EXPECT_STREQ(error.what(), "counts differ");
  }
}

TEST(ErrorFail, NamesTheSystemsReason) {
  try {
    base::fail_errno("open /x", ENOENT);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.code(), Errc::system);
    EXPECT_EQ(error.rank(), -1);
    EXPECT_STREQ(error.what(), "open /x: No such file or directory (2)");
  }
}

TEST(ErrorLine, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(base::error_line(5, "n2", "late"), "berth: rank 5@n2: late");
  EXPECT_EQ(base::error_line(5, "", "late"), "berth: rank 5: late");
  EXPECT_EQ(base::error_line(-1, "n2", "late"), "berth: n2: late");
  EXPECT_EQ(base::error_line(-1, "", "late"), "berth: late");
}

TEST(ErrorLine, IsOnePrintableLineOfAtMost511Bytes) {
  EXPECT_EQ(base::error_line(-1, "", "a\nb\x1b[0m"), "berth: a b?[0m");
  EXPECT_EQ(base::error_line(0, "h", std::string(10'000, 'x')).size(), 511U);
  std::string euros;
  for (int i = 0; i < 300; ++i) euros += "\xe2\x82\xac";
  std::string const line = base::error_line(0, "h", euros);
  EXPECT_LE(line.size(), 511U);
  EXPECT_EQ(line.substr(line.size() - 3), "\xe2\x82\xac");
}

TEST(ErrorLine, IsWrittenToStderrInOneWriteWithOneNewline) {
  test::Captured captured(2);
  base::write_stderr_line("short");
  base::write_stderr_line("two\nlines");
  base::write_stderr_line(std::string(2000, 'x'));
  std::vector<std::string> const writes = captured.writes();
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_EQ(writes[0], "short\n");
  EXPECT_EQ(writes[1], "two lines\n");
  EXPECT_EQ(writes[2], std::string(511, 'x') + "\n");
}

TEST(ErrorLine, NeverEndsInHalfACharacter) {
  test::Captured captured(2);
  base::write_stderr_line(std::string(510, 'x') + "\xe2\x82\xac");
  base::write_stderr_line(std::string(509, 'x') + "\xc3\xa9z");
  std::vector<std::string> const writes = captured.writes();
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0], std::string(510, 'x') + "\n");
  EXPECT_EQ(writes[1], std::string(509, 'x') + "\xc3\xa9\n");
}

TEST(ErrorLine, IsGoodForRandomMessages) {
  test::RandomText texts("\n\r\t\x1b\xe2\x82\xac abc:");
  for (int i = 0; i < 10'000; ++i) {
    std::string const line = base::error_line(i, texts.next(), texts.next());
    EXPECT_LE(line.size(), 511U);
    EXPECT_EQ(std::count_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }), 0);
  }
}

TEST(ErrorMarkdown, HasEveryCodeAndAnExampleOfEachThatIsRaised) {
  std::string const page = base::errors_markdown();
#define BERTH_X(name, value, exit, text)             \
  EXPECT_NE(page.find("## " #name "\n"), page.npos); \
  EXPECT_NE(page.find(text), page.npos);
  BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
  std::size_t examples = 0;
  for (std::size_t at = page.find("\nberth: "); at != page.npos;
       at = page.find("\nberth: ", at + 1))
    ++examples;
  EXPECT_EQ(examples, 17U);
}

}  // namespace
