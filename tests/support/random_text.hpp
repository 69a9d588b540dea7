// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace berth::test {

/// Texts for parsers, the same in every run: mostly characters of `alphabet`, now and then any
/// byte.
class RandomText {
 public:
  /// @param alphabet characters that the parser knows, so that texts get past its first check
  explicit RandomText(std::string_view alphabet) : alphabet_(alphabet) {}
  /// The next text, of 0 to 40 bytes.
  std::string next() {
    constexpr unsigned longest = 40;
    constexpr unsigned strange_one_in = 24;
    constexpr unsigned bytes = 256;
    std::string text(generator_() % (longest + 1), '\0');
    for (char& c : text) {
      char const known = alphabet_[static_cast<std::size_t>(generator_() % alphabet_.size())];
      c = generator_() % strange_one_in == 0 ? static_cast<char>(generator_() % bytes) : known;
    }
    return text;
  }

 private:
  std::string_view alphabet_;
  std::mt19937 generator_{20240229};
};

}  // namespace berth::test
