// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <json/json.hpp>
#include <sys/stat.h>

namespace berth::json {
namespace {

[[noreturn]] void refuse(std::string const& path, int error) {
  base::fail_errno(fmt::format("cannot write {}", base::printable(path)), error);
}

/// Writes all of `text`; 0 or the number of the error.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t const written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Creates or opens `path` with `flags` and writes `text`; 0 or the number of the error.
int write_file(std::string const& path, int flags, std::string_view text) {
  constexpr mode_t mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
  int const descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, mode);
  if (descriptor < 0) return errno;
  int error = write_all(descriptor, text);
  // A full disk may show only here.
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

void write_document(std::string const& path, std::string const& text) {
  struct stat status {};
  bool const exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    // O_NONBLOCK: a named pipe that nobody reads is an error, not a hang.
    int const error = write_file(path, O_NONBLOCK, text);
    if (error != 0) refuse(path, error);
    return;
  }
  std::string const temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  int error = write_file(temporary, O_CREAT | O_EXCL | O_NOFOLLOW, text);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (error != EEXIST) ::unlink(temporary.c_str());
  refuse(path, error);
}

}  // namespace berth::json
