// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include <base/error.hpp>
#include <base/text.hpp>
#include <sys/child.hpp>
#include <topo/codec.hpp>
#include <topo/convert.hpp>
#include <topo/file.hpp>
#include <topo/nccl.hpp>
#include <topo/topo.hpp>

namespace berth::topo {
namespace {

// A machine of 2,048 processors has less than 1 MiB; the parsers need some fifteen times a file.
constexpr std::size_t most_bytes = 8UL << 20;

sys::ChildLimits limits() {
  sys::ChildLimits limits;
  limits.output_bytes = 16UL << 20;
  limits.memory_bytes = 128UL << 20;
  limits.cpu = std::chrono::milliseconds(800);
  return limits;
}

[[noreturn]] void fail_child(std::string const& path, sys::ChildResult const& result) {
  switch (result.end) {
    case sys::ChildEnd::threw:
      fail_file(path, result.output);
    case sys::ChildEnd::too_slow:
      fail_file(path, "reading it takes too long");
    case sys::ChildEnd::too_long:
      fail_file(path, "it describes too large a machine");
    case sys::ChildEnd::exited:
      fail_file(path, "the process that read it gave up");
    default:
      // A refused allocation inside hwloc ends here, too.
      fail_file(path, "hwloc aborted on it; it is damaged");
  }
}

}  // namespace

model::Node read_text(std::string const& path, std::string const& text) {
  FileKind const kind = check_text(path, text);
  sys::ChildResult const result = sys::run_in_child(
      [&text, kind] {
        return encode_node(kind == FileKind::nccl ? node_from_nccl(parse_nccl(text))
                                                  : convert(Topology(text), std::nullopt));
      },
      limits());
  if (result.end != sys::ChildEnd::done) fail_child(path, result);
  try {
    model::Node node = decode_node(result.output);
    if (node.host.empty()) {
      node.host = base::printable(std::filesystem::path(path).stem().string(), 64);
    }
    return node;
  } catch (Error const& error) {
    fail_file(path, error.what());
  }
}

model::Node read_xml(std::string const& path) {
  return read_text(path, load_file(path, most_bytes));
}

}  // namespace berth::topo
