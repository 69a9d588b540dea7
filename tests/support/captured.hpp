// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <sys/socket.h>

namespace berth::test {

/// Catches what is written to a descriptor, write by write: a socket that keeps message borders.
class Captured {
 public:
  /// @param descriptor the one to catch, 1 or 2
  explicit Captured(int descriptor) : descriptor_(descriptor), saved_(::dup(descriptor)) {
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_.data()) != 0)
      throw std::runtime_error("socketpair");
    ::dup2(ends_[1], descriptor_);
  }
  Captured(Captured const&) = delete;
  Captured& operator=(Captured const&) = delete;
  ~Captured() {
    release();
    ::close(ends_[0]);
  }
  /// Ends the catching and gives the writes so far, in order.
  std::vector<std::string> writes() {
    release();
    std::vector<std::string> list;
    std::array<char, 4096> buffer{};
    while (true) {
      ssize_t const size = ::recv(ends_[0], buffer.data(), buffer.size(), 0);
      if (size <= 0) return list;
      list.emplace_back(buffer.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  void release() {
    if (saved_ < 0) return;
    ::dup2(saved_, descriptor_);
    ::close(saved_);
    ::close(ends_[1]);
    saved_ = -1;
  }

  int descriptor_;
  int saved_;
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace berth::test
