// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::base {

/// Where to look for a library that is opened while the program runs.
struct LibrarySearch {
  std::string what;                  ///< for people: "the CUDA runtime"
  std::string variable;              ///< that names the file instead: "BERTH_CUDART_LIB"
  std::string file;                  ///< the value of `variable`; empty: not set
  std::vector<std::string> names;    ///< best first: "libcudart.so.13"
  std::vector<std::string> folders;  ///< tried after the loader's own search
};

/// A library opened while the program runs. Never closed: CUDA, NCCL and their threads do not
/// survive that. Copies refer to the same library.
class DynLib {
 public:
  DynLib() = default;
  /// Opens the first that can be: the file that the variable names and nothing else when it is set;
  /// otherwise a library of that name which the program has loaded already, so that both use one;
  /// otherwise the names through the loader, then in the folders. Local, blocking.
  /// @throws Error unsupported: not found; bad_configuration: the variable's file cannot be opened
  static DynLib open(LibrarySearch const& search);

  /// The library of that name which the program has loaded already; without any symbol when it has
  /// not. Local.
  static DynLib loaded(char const* name) noexcept;

  /// The file that was opened.
  [[nodiscard]] std::string const& path() const { return path_; }
  /// The address of a symbol; null when this version of the library has none of that name.
  [[nodiscard]] void* find(char const* symbol) const noexcept;

 private:
  explicit DynLib(void* handle);

  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace berth::base
