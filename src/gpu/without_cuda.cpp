// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <gpu/runtime.hpp>

#include <base/error.hpp>

// The twin of cuda.cpp for a build without CUDA's headers.

namespace berth::gpu {

std::unique_ptr<Runtime> open(base::LibrarySearch const& /*search*/) {
  base::fail(Errc::unsupported,
             "this build of Berth has no CUDA; build it where the headers of the CUDA Toolkit are");
}

int header_version() noexcept {
  return 0;
}

}  // namespace berth::gpu
