// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <hwloc.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <sys/host.hpp>
#include <topo/file.hpp>

namespace berth::topo {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 256;

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Leaves out everything up to and including `end`; all of it when `end` is missing.
void skip_past(std::string_view& text, std::string_view end) {
  std::size_t const at = text.find(end);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
}

// The root element's start tag without brackets, "topology version=\"2.0\""; empty: none.
std::string_view root_tag(std::string const& path, std::string_view text) {
  if (starts(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  for (;;) {
    text = base::trim(text);
    if (starts(text, "<?")) {
      skip_past(text, "?>");
    } else if (starts(text, "<!--")) {
      skip_past(text, "-->");
    } else if (starts(text, "<!")) {
      std::size_t const end = text.find_first_of("[>");
      if (end != std::string_view::npos && text[end] == '[') {
        fail_file(path, "it declares entities of its own; such files are not read");
      }
      skip_past(text, ">");
    } else {
      break;
    }
  }
  if (!starts(text, "<")) return {};
  return text.substr(1, text.find('>') - 1);
}

// The position after a tag that begins at `at`; a '>' inside quotes does not end it.
std::size_t end_of_tag(std::string_view text, std::size_t at) {
  char quote = '\0';
  for (; at < text.size(); ++at) {
    char const c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return text.size();
}

// Parsers follow nesting by recursion.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  std::size_t at = 0;
  while ((at = text.find('<', at)) != std::string_view::npos) {
    if (starts(text.substr(at), "<!--")) {
      std::size_t const end = text.find("-->", at);
      if (end == std::string_view::npos) return false;
      at = end + 3;
      continue;
    }
    std::size_t const end = end_of_tag(text, at);
    char const next = at + 1 < text.size() ? text[at + 1] : '\0';
    bool const closed = end >= 2 && text[end - 1] == '>' && text[end - 2] == '/';
    if (next == '/') {
      --depth;
    } else if (next != '?' && next != '!' && !closed && ++depth > deepest) {
      return true;
    }
    at = end;
  }
  return false;
}

// The value of version="..." of a start tag; empty where hwloc 1 wrote none.
std::string version_of(std::string_view tag) {
  std::string_view const key = "version=\"";
  std::size_t const at = tag.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view const value = tag.substr(at + key.size());
  return std::string(value.substr(0, value.find('"')));
}

}  // namespace

void fail_file(std::string const& path, std::string_view reason) {
  base::fail(Errc::bad_input,
             fmt::format("topology file {}: {}", base::printable(path, 200), reason));
}

std::string load_file(std::string const& path, std::size_t most_bytes) {
  std::error_code error;
  fs::file_status const status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail_file(path, "there is no such file");
  if (error) fail_file(path, error.message());
  if (fs::is_directory(status)) fail_file(path, "it is a directory");
  if (!fs::is_regular_file(status)) fail_file(path, "it is not a regular file");
  std::uintmax_t const size = fs::file_size(path, error);
  if (error) fail_file(path, error.message());
  if (size == 0) fail_file(path, "it is empty");
  if (size > most_bytes)
    fail_file(path, fmt::format("it is larger than {} MiB", most_bytes >> 20U));
  std::string text = sys::read_small_file(path, most_bytes);
  if (text.empty()) fail_file(path, "it cannot be read");
  return text;
}

FileKind check_text(std::string const& path, std::string_view text) {
  std::string_view const tag = root_tag(path, text);
  std::string_view const name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  if (name != "topology" && name != "system") {
    fail_file(path, "it is no hwloc XML (made by `lstopo file.xml`) and no NCCL topology");
  }
  if (is_too_deep(text)) {
    fail_file(path, fmt::format("its elements are nested deeper than {}", deepest));
  }
  if (name == "system") return FileKind::nccl;
  unsigned const api = hwloc_get_api_version();
  std::string const version = version_of(tag);
  auto const major = static_cast<unsigned>(std::strtoul(version.c_str(), nullptr, 10));
  if (major > api >> 16U) {
    fail_file(path, fmt::format("it was written by hwloc {}; this build has hwloc {}.{}", major,
                                api >> 16U, (api >> 8U) & 0xffU));
  }
  return FileKind::hwloc;
}

}  // namespace berth::topo
