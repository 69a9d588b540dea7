// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <unistd.h>

#include <base/line.hpp>

namespace berth::base {
namespace {

bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

bool is_control(char byte) noexcept {
  auto const value = static_cast<unsigned char>(byte);
  return value < 0x20U || value == 0x7FU;
}

}  // namespace

void Line::append(std::string_view text) noexcept {
  for (char const byte : text) {
    if (cut_) return;
    if (size_ == capacity - 1) {
      // Do not leave half a character at the end.
      if (continues_character(byte)) {
        while (size_ > 0 && continues_character(bytes_[size_ - 1])) --size_;
        if (size_ > 0) --size_;
      }
      cut_ = true;
      return;
    }
    bytes_[size_++] = is_control(byte) ? ' ' : byte;
  }
}

void Line::write_to(int descriptor) noexcept {
  bytes_[size_] = '\n';
  ssize_t written = 0;
  do {
    written = ::write(descriptor, bytes_.data(), size_ + 1);
  } while (written < 0 && errno == EINTR);
}

}  // namespace berth::base
