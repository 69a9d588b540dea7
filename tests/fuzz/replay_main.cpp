// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <fuzz/fuzz.hpp>

namespace fs = std::filesystem;

/// Gives every file of a folder to the fuzzer's entry point, and every cut of it at 64 places.
/// Exit code 77 without a file.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<fs::path> paths;
  for (auto const& entry : fs::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (auto const& path : paths) {
    std::printf("%s\n", path.c_str());
    std::ifstream file(path, std::ios::binary);
    std::vector<char> const bytes{std::istreambuf_iterator<char>(file), {}};
    auto const* data = reinterpret_cast<std::uint8_t const*>(bytes.data());
    std::size_t const step = std::max<std::size_t>(1, bytes.size() / 64);
    for (std::size_t size = 0; size < bytes.size(); size += step)
      LLVMFuzzerTestOneInput(data, size);
    LLVMFuzzerTestOneInput(data, bytes.size());
  }
  return paths.empty() ? 77 : 0;
}
