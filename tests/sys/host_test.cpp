// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <sys/host.hpp>
#include <sys/stat.h>

namespace berth {
namespace {

namespace fs = std::filesystem;

class HostFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::array<unsigned, 2> random{};
    sys::random_bytes(random.data(), sizeof random);
    root_ = fs::temp_directory_path() / ("berth-host-test-" + std::to_string(random[0]));
    fs::create_directories(root_ / "proc/sys/kernel/random");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(std::string const& path, std::string const& text) {
    std::ofstream(root_ / path) << text;
  }
  fs::path root_;
};

TEST_F(HostFiles, AreReadUnderTheRoot) {
  write("proc/sys/kernel/hostname", "node\x1b[2J17\n");
  write("proc/sys/kernel/random/boot_id", "a2f0c1de-0000-4000-8000-000000000001\n");
  auto const identity = sys::host_identity(root_.string());
  EXPECT_EQ(identity.name, "node?[2J17");
  EXPECT_EQ(identity.boot_id, "a2f0c1de-0000-4000-8000-000000000001");
}

TEST_F(HostFiles, MayBeMissing) {
  auto const identity = sys::host_identity((root_ / "nowhere").string());
  EXPECT_FALSE(identity.name.empty());
  EXPECT_TRUE(identity.boot_id.empty());
}

TEST_F(HostFiles, AreCutAtTheLimitAndLoseTheirNewline) {
  write("short", "abc\n");
  EXPECT_EQ(sys::read_small_file((root_ / "short").string()), "abc");
  EXPECT_EQ(sys::read_small_file((root_ / "short").string(), 2), "ab");
}

TEST_F(HostFiles, ThatAreNoFilesReadAsEmptyAtOnce) {
  ASSERT_EQ(mkfifo((root_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(sys::read_small_file((root_ / "fifo").string()), "");
  EXPECT_EQ(sys::read_small_file(root_.string()), "");
  EXPECT_EQ(sys::read_small_file((root_ / "absent").string()), "");
}

TEST(HostIdentity, OfThisMachineIsComplete) {
  auto const identity = sys::host_identity();
  EXPECT_FALSE(identity.name.empty());
  EXPECT_LE(identity.name.size(), 64U);
}

TEST(RandomBytes, Differ) {
  std::array<unsigned char, 16> a{};
  std::array<unsigned char, 16> b{};
  sys::random_bytes(a.data(), a.size());
  sys::random_bytes(b.data(), b.size());
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace berth
