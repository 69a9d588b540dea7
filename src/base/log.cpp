// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <base/error.hpp>
#include <base/line.hpp>
#include <base/log.hpp>
#include <base/text.hpp>

namespace berth::base {
namespace {

constexpr int standard_error = 2;
constexpr std::array<std::string_view, 4> level_names = {"error", "warn", "info", "debug"};

/// `path` with %h, %r and %% replaced; a host name never adds a folder.
std::string expand_path(std::string const& path, std::string_view host, int rank) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    char const next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'h') {
      for (char const c : host) out += c == '/' ? '_' : c;
    } else if (next == 'r') {
      out += std::to_string(rank);
    } else if (next == '%') {
      out += '%';
    } else {
      out += path[i];
      continue;
    }
    ++i;
  }
  return out;
}

}  // namespace

std::optional<Level> parse_level(std::string_view word) {
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == word) return static_cast<Level>(i);
  }
  return std::nullopt;
}

Log::Log(Level level, std::string const& path, std::string_view host, int rank)
    : level_(level), prefix_("berth: ") {
  if (rank >= 0) {
    prefix_ += fmt::format("rank {}", rank);
    if (!host.empty()) prefix_ += fmt::format("@{}", printable(host));
    prefix_ += ": ";
  }
  if (path.empty()) return;
  std::string const file = expand_path(path, host, rank);
  // O_NONBLOCK: a named pipe that nobody reads is an error, not a hang.
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int const descriptor = ::open(file.c_str(), flags, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (descriptor < 0) {
    fail(Errc::bad_configuration,
         fmt::format("BERTH_LOG_FILE={}: cannot open {}: {}; name a file in a writable folder",
                     printable(path), printable(file), std::generic_category().message(errno)));
  }
  descriptor_ = descriptor;
  owned_ = true;
}

Log::~Log() {
  if (owned_) ::close(descriptor_);
}

Log::Log(Log&& other) noexcept
    : level_(other.level_),
      descriptor_(std::exchange(other.descriptor_, standard_error)),
      owned_(std::exchange(other.owned_, false)),
      prefix_(std::move(other.prefix_)) {}

Log& Log::operator=(Log&& other) noexcept {
  if (this != &other) {
    if (owned_) ::close(descriptor_);
    level_ = other.level_;
    descriptor_ = std::exchange(other.descriptor_, standard_error);
    owned_ = std::exchange(other.owned_, false);
    prefix_ = std::move(other.prefix_);
  }
  return *this;
}

void Log::line(Level level, std::string_view text) const noexcept {
  if (!enabled(level)) return;
  Line out;
  out.append(prefix_.empty() ? std::string_view("berth: ") : std::string_view(prefix_));
  out.append(level_names[static_cast<std::size_t>(level)]);
  out.append(": ");
  out.append(text);
  out.write_to(descriptor_);
}

}  // namespace berth::base
