// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <sys/child.hpp>
#include <sys/host.hpp>
#include <topo/codec.hpp>
#include <topo/convert.hpp>
#include <topo/topo.hpp>

namespace berth::topo {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 64UL << 20;

[[noreturn]] void fail_file(std::string const& path, std::string_view reason) {
  base::fail(Errc::bad_input,
             fmt::format("topology file {}: {}", base::printable(path, 200), reason));
}

std::string load(std::string const& path) {
  std::error_code error;
  fs::file_status const status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail_file(path, "there is no such file");
  if (error) fail_file(path, error.message());
  if (fs::is_directory(status)) fail_file(path, "it is a directory");
  if (!fs::is_regular_file(status)) fail_file(path, "it is not a regular file");
  std::uintmax_t const size = fs::file_size(path, error);
  if (error) fail_file(path, error.message());
  if (size == 0) fail_file(path, "it is empty");
  if (size > most_bytes) fail_file(path, "it is larger than 64 MiB");
  std::string text = sys::read_small_file(path, most_bytes);
  if (text.empty()) fail_file(path, "it cannot be read");
  return text;
}

// The value of version="..." of the <topology> element; empty where hwloc 1 wrote none.
std::string version_of(std::string_view element) {
  std::string_view const key = "version=\"";
  std::size_t const at = element.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view const value = element.substr(at + key.size());
  return std::string(value.substr(0, value.find('"')));
}

// Says in our words what hwloc would not say at all.
void check_kind(std::string const& path, std::string_view text) {
  std::string_view const head = text.substr(0, 65536);
  std::size_t const at = head.find("<topology");
  if (base::trim(head).substr(0, 1) != "<" || at == std::string_view::npos) {
    fail_file(path, "it is no hwloc XML (made by `lstopo file.xml`)");
  }
  std::string_view const element = head.substr(at, head.find('>', at) - at);
  std::string const version = version_of(element);
  unsigned const api = hwloc_get_api_version();
  auto const major = static_cast<unsigned>(std::strtoul(version.c_str(), nullptr, 10));
  if (major > api >> 16U) {
    fail_file(path, fmt::format("it was written by hwloc {}; this build has hwloc {}.{}", major,
                                api >> 16U, (api >> 8U) & 0xffU));
  }
}

[[noreturn]] void fail_child(std::string const& path, sys::ChildResult const& result) {
  switch (result.end) {
    case sys::ChildEnd::threw:
      fail_file(path, result.output);
    case sys::ChildEnd::too_slow:
      fail_file(path, "reading it takes too long");
    case sys::ChildEnd::too_long:
      fail_file(path, "it describes too large a machine");
    default:
      // A refused allocation inside hwloc ends here, too.
      fail_file(path, "hwloc aborted on it; it is damaged");
  }
}

}  // namespace

model::Node read_xml(std::string const& path) {
  std::string const text = load(path);
  check_kind(path, text);
  sys::ChildLimits limits;
  limits.output_bytes = 64UL << 20;
  limits.cpu = std::chrono::milliseconds(800);
  sys::ChildResult const result = sys::run_in_child(
      [&text] { return encode_node(convert(Topology(text), std::nullopt)); }, limits);
  if (result.end != sys::ChildEnd::done) fail_child(path, result);
  try {
    model::Node node = decode_node(result.output);
    if (node.host.empty()) node.host = base::printable(fs::path(path).stem().string(), 64);
    return node;
  } catch (Error const& error) {
    fail_file(path, error.what());
  }
}

}  // namespace berth::topo
