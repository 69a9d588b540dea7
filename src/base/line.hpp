// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace berth::base {

/// One line on its way to a descriptor: fixed memory, no exceptions, so that it also works when
/// memory is exhausted or from the watchdog beside a hanging rank.
class Line {
 public:
  /// Longest line with its newline; below PIPE_BUF, so that one write is never interleaved.
  static constexpr std::size_t capacity = 512;
  /// Appends what fits; control characters become spaces.
  void append(std::string_view text) noexcept;
  /// Ends the line and writes it with one write(2); the outcome is ignored, nobody could be told.
  void write_to(int descriptor) noexcept;

 private:
  std::array<char, capacity> bytes_{};
  std::size_t size_ = 0;
  bool cut_ = false;
};

}  // namespace berth::base
