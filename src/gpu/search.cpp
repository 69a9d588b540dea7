// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gpu/runtime.hpp>

namespace berth::gpu {

std::vector<std::string> library_folders(std::vector<std::string> const& toolkits) {
  std::vector<std::string> folders;
  for (std::string const& toolkit : toolkits) {
    if (toolkit.empty()) continue;
    for (char const* below : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) {
      folders.push_back(toolkit + below);
    }
  }
  for (char const* usual : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64"}) {
    folders.emplace_back(usual);
  }
  return folders;
}

base::LibrarySearch cuda_search(std::string const& file, std::vector<std::string> const& toolkits) {
  base::LibrarySearch search;
  search.what = "the CUDA runtime";
  search.variable = "BERTH_CUDART_LIB";
  search.file = file;
  // The plain name belongs to a development package; the numbered ones are in every installation.
  search.names = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
  search.folders = library_folders(toolkits);
  return search;
}

}  // namespace berth::gpu
