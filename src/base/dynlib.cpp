// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <base/dynlib.hpp>
#include <base/error.hpp>
#include <base/text.hpp>

namespace berth::base {

namespace {

constexpr std::size_t longest_reason = 160;

std::string reason() {
  char const* const text = dlerror();
  return printable(text == nullptr ? "no reason given" : text, longest_reason);
}

}  // namespace

DynLib::DynLib(void* handle) : handle_(handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr) {
    path_ = map->l_name;
  }
}

DynLib DynLib::open(LibrarySearch const& search) {
  constexpr int flags = RTLD_NOW | RTLD_LOCAL;
  if (!search.file.empty()) {
    void* const handle = dlopen(search.file.c_str(), flags);
    if (handle != nullptr) return DynLib(handle);
    fail(Errc::bad_configuration, fmt::format("{}={}: cannot be opened: {}", search.variable,
                                              printable(search.file), reason()));
  }
  for (std::string const& name : search.names) {
    DynLib const already = loaded(name.c_str());
    if (already.handle_ != nullptr) return DynLib(already.handle_);
  }
  std::string first;
  for (std::string const& name : search.names) {
    if (void* const handle = dlopen(name.c_str(), flags)) return DynLib(handle);
    if (first.empty()) first = reason();
    for (std::string const& folder : search.folders) {
      std::string path = folder;
      path += '/';
      path += name;
      if (void* const handle = dlopen(path.c_str(), flags)) return DynLib(handle);
    }
  }
  fail(Errc::unsupported, fmt::format("{} is not found ({}); name its file in {}", search.what,
                                      first, search.variable));
}

DynLib DynLib::loaded(char const* name) noexcept {
  DynLib library;
  library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return library;
}

void* DynLib::find(char const* symbol) const noexcept {
  return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}

}  // namespace berth::base
