// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <berth/error.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <topo/checks.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

namespace fs = std::filesystem;

#if defined(__has_feature)
#define BERTH_HAS_FEATURE(name) __has_feature(name)
#else
#define BERTH_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    BERTH_HAS_FEATURE(address_sanitizer) || BERTH_HAS_FEATURE(thread_sanitizer)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

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
  fs::resize_file(path, (8UL << 20) + 1);
  says(error_of_path(path.string()), "larger than 8 MiB");
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

TEST_F(DamagedFile, MayDeclareNoEntities) {
  says(error_of("<?xml version=\"1.0\"?>\n<!DOCTYPE topology [<!ENTITY a \"b\">]>\n<topology/>"),
       "it declares entities of its own");
}

TEST_F(DamagedFile, MayNotBeNestedWithoutEnd) {
  for (char const* root : {"<topology version=\"2.0\">", "<system version=\"1\">"}) {
    std::string nested = root;
    for (int i = 0; i < 200000; ++i) nested += "<object type=\"Group\" name='>'>";
    says(error_of(nested), "nested deeper than 256");
  }
  // A comment is no element.
  std::string commented = good_;
  std::string comment = "<!-- ";
  for (int i = 0; i < 1000; ++i) comment += "<a>";
  commented.insert(commented.find("<topology"), comment + " -->");
  EXPECT_EQ(error_of(commented), "");
}

TEST_F(DamagedFile, MayNotPlaceProcessorsOutsideTheMachine) {
  // Whether hwloc drops or refuses them, no processor appears that no core has.
  for (char const* set : {"0x80000000,0x00000005", "0xf...f", "0xffffffff,0xffffffff"}) {
    std::string text = good_;
    std::size_t at = 0;
    for (int i = 0; i < 12; ++i) at = text.find("cpuset=\"", at) + 8;
    text.replace(at, text.find('"', at) - at, set);
    std::string const path = (folder_ / "machine.xml").string();
    std::ofstream(path) << text;
    try {
      test::check_node(topo::read_xml(path));
    } catch (Error const& error) {
      says(error.what(), path);
    }
  }
}

// A flat machine of that many cores with two processors each.
std::string large_machine(int cores) {
  auto const set = [](int first, int count) {
    std::string text;
    for (int word = (first + count - 1) / 32; word >= 0; --word) {
      unsigned bits = 0;
      for (int bit = 0; bit < 32; ++bit) {
        int const pu = word * 32 + bit;
        if (pu >= first && pu < first + count) bits |= 1U << static_cast<unsigned>(bit);
      }
      std::array<char, 16> buffer{};
      std::snprintf(buffer.data(), buffer.size(), "%s0x%08x", text.empty() ? "" : ",", bits);
      text += buffer.data();
    }
    return text;
  };
  int number = 0;
  auto const object = [&](std::string const& type, int index, int first, int count,
                          std::string const& more) {
    std::string const pus = set(first, count);
    return "<object type=\"" + type + "\" os_index=\"" + std::to_string(index) + "\" cpuset=\"" +
           pus + "\" complete_cpuset=\"" + pus + "\" nodeset=\"0x1\" complete_nodeset=\"0x1\" " +
           more + " gp_index=\"" + std::to_string(++number) + "\"";
  };
  std::string const all = set(0, 2 * cores);
  std::string text =
      "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n" +
      object("Machine", 0, 0, 2 * cores, "allowed_cpuset=\"" + all + "\" allowed_nodeset=\"0x1\"") +
      ">\n" + object("Package", 0, 0, 2 * cores, "") + ">\n" +
      object("NUMANode", 0, 0, 2 * cores, "local_memory=\"1099511627776\"") + "/>\n";
  for (int core = 0; core < cores; ++core) {
    text += object("Core", core, 2 * core, 2, "") + ">\n" +
            object("PU", 2 * core, 2 * core, 1, "") + "/>\n" +
            object("PU", 2 * core + 1, 2 * core + 1, 1, "") + "/>\n</object>\n";
  }
  return text + "</object>\n</object>\n</topology>\n";
}

TEST_F(DamagedFile, IsNoMachineOf2048Processors) {
  std::string const path = (folder_ / "large.xml").string();
  std::ofstream(path) << large_machine(1024);
  auto const start = std::chrono::steady_clock::now();
  model::Node const node = topo::read_xml(path);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(node.cores.size(), 1024U);
  EXPECT_EQ(node.allowed.size(), 2048U);
  test::check_node(node);
}

// Processor time of the children so far, in seconds; wall time depends on who else works here.
double children_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  auto const seconds = [](timeval const& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST_F(DamagedFile, NeverCostsMuchTimeOrMemory) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers need their address space";
  auto const filled = [](std::string text, std::string const& with) {
    while (text.size() < (8UL << 20) - with.size()) text += with;
    return text;
  };
  for (auto const& [start, with] :
       {std::pair{"<topology version=\"2.0\">", "<a/>"},
        std::pair{"<topology version=\"2.0\">", "<object/>"},
        std::pair{"<system version=\"1\">", "<cpu/>"}, std::pair{"<system version=\"1\">", "<"}}) {
    std::string const path = (folder_ / "machine.xml").string();
    std::ofstream(path) << filled(start, with);
    double const before = children_seconds();
    EXPECT_NE(error_of_path(path), "");
    EXPECT_LT(children_seconds() - before, 1.0);
  }
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  EXPECT_LT(usage.ru_maxrss, 200 * 1024) << "KiB";
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
