// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>

#include <base/text.hpp>

namespace berth::base {
namespace {

/// Longest word that nearest() compares; the cost grows with the product of the lengths.
constexpr std::size_t longest_word = 128;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Edits (insert, delete, replace, swap neighbours) between two words, without regard to case.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::size_t const width = right.size() + 1;
  std::vector<std::size_t> before(width);
  std::vector<std::size_t> above(width);
  std::vector<std::size_t> row(width);
  for (std::size_t j = 0; j < width; ++j) above[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      char const a = lower(left[i - 1]);
      char const b = lower(right[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a == b ? 0U : 1U)});
      if (i > 1 && j > 1 && a == lower(right[j - 2]) && b == lower(left[i - 2]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[right.size()];
}

/// One character of UTF-8 at the start of a text.
struct Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;
};

Character decode(std::string_view text) {
  struct Form {
    std::uint32_t mask, lead, least;
    std::size_t bytes;
  };
  static constexpr std::array<Form, 4> forms = {{{0x80, 0x00, 0x0, 1},
                                                 {0xE0, 0xC0, 0x80, 2},
                                                 {0xF0, 0xE0, 0x800, 3},
                                                 {0xF8, 0xF0, 0x10000, 4}}};
  auto const first = static_cast<std::uint32_t>(static_cast<unsigned char>(text.front()));
  for (Form const& form : forms) {
    if ((first & form.mask) != form.lead) continue;
    if (text.size() < form.bytes) return {};
    std::uint32_t code = first & ~form.mask;
    for (std::size_t i = 1; i < form.bytes; ++i) {
      auto const next = static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
      if ((next & 0xC0U) != 0x80U) return {};
      code = code << 6U | (next & 0x3FU);
    }
    bool const surrogate = code >= 0xD800U && code <= 0xDFFFU;
    if (code < form.least || code > 0x10FFFFU || surrogate) return {};
    return {form.bytes, code, true};
  }
  return {};
}

/// Control characters, and those that turn the direction of text or break lines.
bool confuses_terminal(std::uint32_t code) {
  return code < 0x20U || (code >= 0x7FU && code <= 0x9FU) || (code >= 0x2028U && code <= 0x202EU) ||
         (code >= 0x2066U && code <= 0x2069U);
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    std::size_t const end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string join(std::vector<std::string> const& pieces, std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) joined += separator;
    joined += pieces[i];
  }
  return joined;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::size_t const first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string nearest(std::string_view word, std::vector<std::string> const& known) {
  if (word.empty() || word.size() > longest_word) return {};
  // One edit in short words, up to three in long ones: more is another word.
  std::size_t const allowed = std::clamp<std::size_t>(word.size() / 3, 1, 3);
  std::size_t best = allowed + 1;
  std::string found;
  for (std::string const& candidate : known) {
    if (candidate.size() > longest_word) continue;
    std::size_t const distance = edit_distance(word, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  out.reserve(std::min(text.size(), limit));
  while (!text.empty()) {
    Character const c = decode(text);
    bool const good = c.valid && !confuses_terminal(c.code);
    if (out.size() + (good ? c.bytes : 1) > limit) break;
    if (good) {
      out += text.substr(0, c.bytes);
    } else {
      out += '?';
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace berth::base
