// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/line.hpp>
#include <base/text.hpp>

namespace berth {

char const* errc_name(Errc code) noexcept {
  switch (code) {
#define BERTH_X(name, value, exit, text) \
  case Errc::name:                       \
    return #name;
    BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
  }
  return "unknown";
}

char const* errc_text(Errc code) noexcept {
  switch (code) {
#define BERTH_X(name, value, exit, text) \
  case Errc::name:                       \
    return text;
    BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
  }
  return "an error that this version of Berth does not know";
}

int exit_code(Errc code) noexcept {
  struct Row {
    Errc code;
    int exit;
  };
  static constexpr Row rows[] = {
#define BERTH_X(name, value, exit, text) {Errc::name, exit},
      BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
  };
  for (Row const& row : rows) {
    if (row.code == code) return row.exit;
  }
  constexpr int internal = 5;
  return internal;
}

}  // namespace berth

namespace berth::base {
namespace {

/// A message may quote a file or a library: what breaks a line becomes a space.
std::string one_line(std::string_view text) {
  std::string line(trim(text));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

}  // namespace

void fail(Errc code, std::string_view message, int rank) {
  throw Error(code, rank, one_line(message));
}

void fail_errno(std::string_view what, int error) {
  fail(Errc::system,
       fmt::format("{}: {} ({})", what, std::generic_category().message(error), error));
}

std::string error_line(int rank, std::string_view host, std::string_view message) {
  std::string line = "berth: ";
  if (rank >= 0) {
    line += fmt::format("rank {}", rank);
    if (!host.empty()) line += fmt::format("@{}", host);
    line += ": ";
  } else if (!host.empty()) {
    line += fmt::format("{}: ", host);
  }
  line += message;
  return printable(one_line(line), Line::capacity - 1);
}

void write_stderr_line(std::string_view line) noexcept {
  constexpr int standard_error = 2;
  Line out;
  out.append(line);
  out.write_to(standard_error);
}

}  // namespace berth::base
