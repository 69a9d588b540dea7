// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>
#include <nccl/api.hpp>

#include <base/error.hpp>
#include <base/text.hpp>

namespace berth::nccl {

namespace {

/// The first version with nonblocking communicators that can be aborted and split.
constexpr int oldest = 21800;
constexpr std::size_t longest_words = 300;

Errc code_of(ncclResult_t result) {
  switch (result) {
    case ncclRemoteError:
      return Errc::lost;
    case ncclSystemError:
      return Errc::system;
    case ncclUnhandledCudaError:
      return Errc::device;
    default:
      return Errc::nccl;
  }
}

}  // namespace

Library::Library(base::DynLib library) : library_(std::move(library)) {
#define BERTH_X(member, symbol) \
  member = reinterpret_cast<decltype(&::symbol)>(library_.find(#symbol));
  BERTH_NCCL_REQUIRED(BERTH_X)
  BERTH_NCCL_OPTIONAL(BERTH_X)
#undef BERTH_X
#define BERTH_X(member, symbol)                                                             \
  if (member == nullptr) {                                                                  \
    base::fail(Errc::unsupported,                                                           \
               fmt::format("{} has no {}; NCCL 2.18 or newer is needed", path(), #symbol)); \
  }
  BERTH_NCCL_REQUIRED(BERTH_X)
#undef BERTH_X
  check(get_version(&version_), "ncclGetVersion");
  if (version_ < oldest) {
    base::fail(Errc::unsupported, fmt::format("{} is NCCL {}; 2.18 or newer is needed", path(),
                                              version_text(version_)));
  }
}

std::string Library::words(ncclResult_t result) const {
  // One text for the whole process, kept by NCCL although no log is asked for.
  char const* const last = get_last_error(nullptr);
  std::string const more = last == nullptr ? std::string() : base::printable(last, longest_words);
  return more.empty() ? std::string(get_error_string(result))
                      : fmt::format("{}: {}", get_error_string(result), more);
}

void Library::check(ncclResult_t result, char const* call) const {
  if (result == ncclSuccess || result == ncclInProgress) return;
  base::fail(code_of(result), fmt::format("{}: {}", call, words(result)));
}

std::shared_ptr<Library const> open(base::LibrarySearch const& search) {
  return std::make_shared<Library>(base::DynLib::open(search));
}

Versions versions_of(Library const& library) {
  return {library.path(), library.version(), header_version()};
}

int header_version() noexcept {
  return NCCL_VERSION_CODE;
}

}  // namespace berth::nccl
