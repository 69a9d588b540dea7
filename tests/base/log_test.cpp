// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <support/captured.hpp>

#include <base/log.hpp>
#include <berth/error.hpp>
#include <sys/stat.h>

namespace {

using namespace berth;
using base::Level;
using base::Log;

/// A folder of this test that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = ::testing::TempDir() + "berth-log-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string content(std::string const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(LogLevel, IsReadFromItsWord) {
  EXPECT_EQ(base::parse_level("error"), Level::error);
  EXPECT_EQ(base::parse_level("debug"), Level::debug);
  for (char const* word : {"", "WARN", "warning", "0"})
    EXPECT_EQ(base::parse_level(word), std::nullopt) << word;
}

TEST(LogLine, IsOneWriteThatNamesRankAndSeverity) {
  test::Captured captured(2);
  Log const log(Level::info, "", "n2", 5);
  log.line(Level::warn, "late\nand more");
  log.write(Level::info, "{} of {}", 3, 4);
  log.line(Level::debug, "not shown");
  std::vector<std::string> const writes = captured.writes();
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0], "berth: rank 5@n2: warn: late and more\n");
  EXPECT_EQ(writes[1], "berth: rank 5@n2: info: 3 of 4\n");
}

TEST(LogLine, OfADefaultLogShowsWarningsOnly) {
  test::Captured captured(2);
  Log const log;
  log.line(Level::info, "not shown");
  log.line(Level::error, "shown");
  EXPECT_EQ(captured.writes(), std::vector<std::string>{"berth: error: shown\n"});
}

TEST(LogFile, NamesHostAndRankAndIsAppendedTo) {
  Folder const folder;
  for (int round = 0; round < 2; ++round) {
    Log const log(Level::warn, folder.file("%h-%r-100%%.log"), "n/2", 5);
    log.line(Level::error, "text");
  }
  EXPECT_EQ(content(folder.file("n_2-5-100%.log")),
            "berth: rank 5@n/2: error: text\nberth: rank 5@n/2: error: text\n");
}

TEST(LogFile, FollowsAMove) {
  Folder const folder;
  Log first(Level::warn, folder.file("a"), "h", 0);
  Log second(std::move(first));
  Log third;
  third = std::move(second);
  third.line(Level::warn, "moved");
  EXPECT_EQ(content(folder.file("a")), "berth: rank 0@h: warn: moved\n");
}

TEST(LogFile, ThatCannotBeOpenedIsAnError) {
  Folder const folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), S_IRUSR | S_IWUSR), 0);
  for (std::string const& path : {folder.file("no/such"), folder.file(""), folder.file("pipe")}) {
    try {
      Log const log(Level::warn, path, "h", 0);
      ADD_FAILURE() << path;
    } catch (Error const& error) {
      EXPECT_EQ(error.code(), Errc::bad_configuration);
      EXPECT_NE(std::string(error.what()).find("BERTH_LOG_FILE=" + path), std::string::npos);
    }
  }
}

}  // namespace
