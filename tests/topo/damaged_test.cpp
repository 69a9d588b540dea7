// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <berth/error.hpp>
#include <sys/stat.h>
#include <topo/topo.hpp>

namespace berth {
namespace {

namespace fs = std::filesystem;

class DamagedFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("berth-topo-test-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ifstream in(std::string(BERTH_FIXTURES) + "/two-sockets-4-gpus.xml");
    std::stringstream text;
    text << in.rdbuf();
    good_ = text.str();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The error for a file of that content; empty when it is read.
  std::string error_of(std::string const& content) {
    std::string const path = (folder_ / "machine.xml").string();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return error_of_path(path);
  }
  static std::string error_of_path(std::string const& path) {
    try {
      topo::read_xml(path);
      return {};
    } catch (Error const& error) {
      EXPECT_EQ(error.code(), Errc::bad_input);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      return error.what();
    }
  }

  fs::path folder_;
  std::string good_;
};

bool says(std::string const& text, std::string const& words) {
  bool const found = text.find(words) != std::string::npos;
  if (!found) ADD_FAILURE() << '"' << text << "\" does not say \"" << words << '"';
  return found;
}

TEST_F(DamagedFile, IsRefusedWithItsReason) {
  EXPECT_EQ(error_of(good_), "");
  says(error_of(""), "it is empty");
  says(error_of("hello"), "no hwloc XML");
  says(error_of("<html><body/></html>"), "no hwloc XML");
  says(error_of(good_.substr(0, good_.size() / 2)), "damaged or truncated");
  says(error_of("<?xml version=\"1.0\"?>\n<topology version=\"2.0\">"), "damaged or truncated");
}

TEST_F(DamagedFile, OfANewerHwlocIsRefusedByItsVersion) {
  std::string newer = good_;
  newer.replace(newer.find("<topology version=\"2.0\">"), 24, "<topology version=\"9.0\">");
  says(error_of(newer), "it was written by hwloc 9; this build has hwloc ");
}

TEST_F(DamagedFile, ThatIsNoFileIsRefusedAtOnce) {
  says(error_of_path((folder_ / "absent.xml").string()), "there is no such file");
  says(error_of_path(folder_.string()), "it is a directory");
  fs::path const fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  says(error_of_path(fifo.string()), "not a regular file");
  says(error_of_path("/dev/zero"), "not a regular file");
}

TEST_F(DamagedFile, ThatIsTooLargeIsNotRead) {
  fs::path const path = folder_ / "large.xml";
  std::ofstream(path) << good_;
  fs::resize_file(path, (16UL << 20) + 1);
  says(error_of_path(path.string()), "larger than 16 MiB");
}

TEST_F(DamagedFile, CannotExhaustTheMachine) {
  std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE topology [\n<!ENTITY a0 \"xxxxxxxxxx\">\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">\n";
  }
  bomb += "]>\n<topology version=\"2.0\">&a11;</topology>\n";
  EXPECT_NE(error_of(bomb), "");
  std::string nested = "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">";
  for (int i = 0; i < 200000; ++i) nested += "<object type=\"Group\">";
  EXPECT_NE(error_of(nested), "");
}

TEST_F(DamagedFile, EndsInAPlanOrOneLineWhateverItsBytes) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same bytes in every run
  for (int round = 0; round < 12; ++round) {
    std::string bytes = good_;
    for (int i = 0; i < 4; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(32 + random() % 95);
    }
    error_of(bytes);
  }
}

}  // namespace
}  // namespace berth
