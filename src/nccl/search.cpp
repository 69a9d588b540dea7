// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gpu/runtime.hpp>
#include <nccl/library.hpp>

namespace berth::nccl {

base::LibrarySearch library_search(std::string const& file, std::vector<std::string> const& homes) {
  base::LibrarySearch search;
  search.what = "libnccl";
  search.variable = "BERTH_NCCL_LIB";
  search.file = file;
  search.names = {"libnccl.so.2", "libnccl.so"};
  search.folders = gpu::library_folders(homes);
  return search;
}

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

}  // namespace berth::nccl
