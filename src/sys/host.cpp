// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <sys/descriptor.hpp>
#include <sys/host.hpp>
#include <sys/random.h>
#include <sys/stat.h>

namespace berth::sys {

std::string read_small_file(std::string const& path, std::size_t limit) {
  // Nonblocking: a FIFO in the place of the file must not stop us before fstat refuses it.
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < limit) {
    std::size_t const wanted = std::min(buffer.size(), limit - text.size());
    ssize_t const got = ::read(file.get(), buffer.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

HostIdentity host_identity(std::string const& root) {
  HostIdentity identity;
  std::string name = read_small_file(root + "/proc/sys/kernel/hostname");
  if (name.empty() && root.empty()) {
    std::array<char, 256> buffer{};
    if (gethostname(buffer.data(), buffer.size() - 1) == 0) name = buffer.data();
  }
  identity.name = base::printable(name.empty() ? std::string("localhost") : name, 64);
  identity.boot_id =
      base::printable(read_small_file(root + "/proc/sys/kernel/random/boot_id", 64), 64);
  return identity;
}

void random_bytes(void* out, std::size_t bytes) {
  auto* next = static_cast<std::byte*>(out);
  while (bytes > 0) {
    ssize_t const got = getrandom(next, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::fail_errno("getrandom", errno);
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace berth::sys
