// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <berth/error.hpp>
#include <topo/checks.hpp>
#include <topo/topo.hpp>

namespace berth {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(std::string const& folder) {
  std::vector<fs::path> paths;
  for (auto const& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".xml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (auto const& path : paths) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

class Mutator {
 public:
  std::string mutate(std::string text) {
    for (std::size_t left = 1 + below(4); left > 0 && !text.empty(); --left) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void change(std::string& text) {
    std::size_t const at = below(text.size());
    std::size_t const size = std::min(1 + below(80), text.size() - at);
    switch (below(6)) {
      case 0:  // any byte
        text[at] = static_cast<char>(below(256));
        return;
      case 1:  // another digit, which stays XML
        for (std::size_t i = at; i < text.size(); ++i) {
          if (text[i] < '0' || text[i] > '9') continue;
          text[i] = static_cast<char>('0' + below(10));
          return;
        }
        return;
      case 2:
        text.erase(at, size);
        return;
      case 3:
        text.insert(below(text.size()), text.substr(at, size));
        return;
      case 4:  // one line less, which often stays XML
        if (auto const line = text.find('\n', at); line != std::string::npos) {
          text.erase(line, text.find('\n', line + 1) - line);
        }
        return;
      default:
        if (below(8) == 0) text.resize(at);
    }
  }

  std::mt19937 random_{20};  // NOLINT(cert-msc51-cpp): the same bytes in every run
};

TEST(MutatedFiles, EndInANodeOrOneClearLine) {
  std::vector<std::string> const good = files_of(BERTH_MUTATED);
  if (good.empty()) GTEST_SKIP() << "no XML file in " << BERTH_MUTATED;
  fs::path const path = fs::temp_directory_path() / ("berth-mutated-" + std::to_string(getpid()));
  Mutator mutator;
  int read = 0;
  for (std::size_t round = 0; round < BERTH_MUTATIONS; ++round) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        << mutator.mutate(good[round % good.size()]);
    auto const start = std::chrono::steady_clock::now();
    try {
      test::check_node(topo::read_xml(path.string()));
      ++read;
    } catch (Error const& error) {
      std::string const text = error.what();
      ASSERT_EQ(error.code(), Errc::bad_input) << text;
      ASSERT_NE(text.find(path.string()), std::string::npos) << text;
      ASSERT_EQ(text.find('\n'), std::string::npos) << text;
      // A sanitizer has stopped our own code in the child.
      ASSERT_EQ(text.find("gave up"), std::string::npos) << text;
    }
    // The child gets 0.8 s of processor time; the rest is for a busy machine.
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    if (HasFailure()) {
      fs::path const kept = fs::temp_directory_path() / "berth-mutated-failure.xml";
      fs::rename(path, kept);
      FAIL() << "round " << round << ", kept as " << kept;
    }
  }
  fs::remove(path);
  // Otherwise the changes were too coarse to try anything but the XML parser.
  EXPECT_GT(read, BERTH_MUTATIONS / 10);
  EXPECT_LT(read, BERTH_MUTATIONS);
}

}  // namespace
}  // namespace berth
