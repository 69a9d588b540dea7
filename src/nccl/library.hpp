// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <base/dynlib.hpp>

namespace berth::nccl {

/// libnccl, opened while the program runs. What is in it is this room's business (api.hpp).
class Library;

/// What is to be told of an opened library.
struct Versions {
  std::string path;  ///< its file
  int version = 0;   ///< 22809 for 2.28.9
  int header = 0;    ///< of this build
};

/// How libnccl is searched. `file` is BERTH_NCCL_LIB's value; `homes` those of NCCL_HOME, CUDA_HOME
/// and the like, empty ones are skipped.
base::LibrarySearch library_search(std::string const& file, std::vector<std::string> const& homes);

/// Opens libnccl, or takes the one that the program has loaded. Local, does not touch a device.
/// @throws Error unsupported: built without NCCL, not found, older than 2.18; bad_configuration
std::shared_ptr<Library const> open(base::LibrarySearch const& search);

Versions versions_of(Library const& library);

/// "2.28.9" of 22809. Versions before 2.9 were counted otherwise and are not used.
std::string version_text(int version);

/// Version of the NCCL headers that this build has; 0: none.
int header_version() noexcept;

}  // namespace berth::nccl
