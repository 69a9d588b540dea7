// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <utility>

#include <fcntl.h>
#include <langinfo.h>
#include <unistd.h>

#include <base/error.hpp>
#include <cli/output.hpp>
#include <json/json.hpp>
#include <sys/pipes.hpp>

namespace berth::cli {

bool prepare_streams() {
  bool is_stdout_open = true;
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    if (stream == STDOUT_FILENO) is_stdout_open = false;
    // The lowest free number: this very stream.
    if (::open("/dev/null", O_RDWR) != stream) return false;
  }
  sys::ignore_broken_pipes();
  return is_stdout_open;
}

Output::Output(std::string json, bool speaks, bool stdout_open)
    : json_(std::move(json)), speaks_(speaks), error_(stdout_open ? 0 : EBADF) {}

void Output::write(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    ssize_t const written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      if (descriptor == STDOUT_FILENO && error_ == 0) error_ = errno;
      return;
    }
  }
}

void Output::text(std::string_view text) noexcept {
  if (speaks_) write(json_ == "-" ? STDERR_FILENO : STDOUT_FILENO, text);
}

void Output::document(std::string const& document) {
  if (!speaks_ || json_.empty()) return;
  if (json_ == "-") {
    write(STDOUT_FILENO, document);
  } else {
    json::write_document(json_, document);
  }
}

void Output::file(std::string const& path, std::string const& content) const {
  if (speaks_ && !path.empty()) json::write_document(path, content);
}

void Output::check() const {
  if (speaks_ && error_ != 0) base::fail_errno("cannot write the result to stdout", error_);
}

Moving::Moving(bool speaks) : on_(speaks && ::isatty(STDERR_FILENO) == 1) {}

Moving::~Moving() {
  show({});
}

void Moving::show(std::string const& line) {
  if (!on_ || (line.empty() && shown_ == 0)) return;
  std::string text = "\r" + line;
  if (line.size() < shown_) text += std::string(shown_ - line.size(), ' ');
  if (line.empty()) text += "\r";
  shown_ = line.size();
  // A terminal that is gone does not matter to the result.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) on_ = false;
}

bool is_utf8() {
  std::setlocale(LC_CTYPE, "");
  return std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
}

}  // namespace berth::cli
