// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <nccl/backend.hpp>

#include <base/error.hpp>

// The twin of library.cpp, bootstrap.cpp and backend.cpp for a build without NCCL's headers:
// nothing can be opened, so nothing else is ever called.

namespace berth::nccl {

class Library {};

namespace {

[[noreturn]] void refuse() {
  base::fail(Errc::unsupported,
             "this build of Berth has no NCCL; build it where the headers of CUDA and NCCL are");
}

}  // namespace

std::shared_ptr<Library const> open(base::LibrarySearch const& /*search*/) {
  refuse();
}

Versions versions_of(Library const& /*library*/) {
  refuse();
}

int header_version() noexcept {
  return 0;
}

std::unique_ptr<DeviceBackend> DeviceBackend::connect(Setup /*setup*/) {
  refuse();
}

}  // namespace berth::nccl
