// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <sys/sysfs.hpp>

namespace berth::sys {

namespace fs = std::filesystem;

std::vector<std::string> list_folder(std::string const& path) {
  constexpr std::size_t most = 65536;
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  while (!error && entry != fs::directory_iterator() && names.size() < most) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(std::string const& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<std::string> resolved(std::string const& path) {
  std::error_code error;
  fs::path const whole = fs::canonical(path, error);
  std::vector<std::string> parts;
  if (error) return parts;
  for (auto const& part : whole.relative_path()) parts.push_back(part.string());
  return parts;
}

}  // namespace berth::sys
