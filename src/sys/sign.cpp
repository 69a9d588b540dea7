// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <sys/mman.h>
#include <sys/sign.hpp>

namespace berth::sys {

Sign::Sign(std::string const& name) noexcept
    : descriptor_(memfd_create(name.c_str(), MFD_CLOEXEC)) {}

Sign::Sign(Sign&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Sign& Sign::operator=(Sign&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Sign::~Sign() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool shows_sign(int pid, std::string_view name) noexcept {
  try {
    std::string const wanted = "/memfd:" + std::string(name) + " (deleted)";
    std::string const folder = "/proc/" + std::to_string(pid) + "/fd";
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    while (!error && entry != std::filesystem::directory_iterator()) {
      std::error_code unreadable;  // a descriptor may be closed while we look
      if (std::filesystem::read_symlink(entry->path(), unreadable) == wanted) return true;
      entry.increment(error);
    }
  } catch (...) {
    // No memory: nothing was seen.
  }
  return false;
}

}  // namespace berth::sys
