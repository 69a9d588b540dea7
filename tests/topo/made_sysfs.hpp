// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace berth::test {

/// A tree like /sys and /proc in a temporary folder, which goes with it. Its machine's processors
/// are those of the real one.
class MadeSysfs {
 public:
  MadeSysfs();
  ~MadeSysfs();
  MadeSysfs(MadeSysfs const&) = delete;
  MadeSysfs& operator=(MadeSysfs const&) = delete;

  /// Prefix for LiveOptions::root.
  [[nodiscard]] std::string root() const { return root_.string(); }
  /// Writes a file, its folders included.
  void write(std::string const& path, std::string const& text);
  /// Makes the folder of a PCI function; `path` is like "pci0000:80/0000:80:01.0/0000:81:00.0".
  void add_function(std::string const& path, std::map<std::string, std::string> const& files = {});
  /// Makes a network interface that is up and runs at 25 Gbit/s, with `files` instead of that or
  /// besides. @param function its path as above; empty: a virtual one
  void add_interface(std::string const& name, std::string const& function,
                     std::map<std::string, std::string> const& files = {});
  /// Makes a verbs device with one active port of 400 Gbit/s, with `files` instead or besides.
  void add_verbs(std::string const& name, std::string const& function,
                 std::map<std::string, std::string> const& files = {});
  /// Links `path` to the PCI function `function`.
  void link(std::string const& path, std::string const& function);
  /// Makes one interface the lower one of another.
  void stack(std::string const& upper, std::string const& lower);

 private:
  std::filesystem::path root_;
};

}  // namespace berth::test
