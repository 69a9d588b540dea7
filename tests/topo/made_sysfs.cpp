// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <unistd.h>

#include <topo/made_sysfs.hpp>

namespace berth::test {

namespace fs = std::filesystem;

MadeSysfs::MadeSysfs() {
  static int number = 0;
  root_ = fs::temp_directory_path() /
          ("berth-sysfs-" + std::to_string(getpid()) + "-" + std::to_string(++number));
  fs::create_directories(root_ / "sys/class/net");
}

MadeSysfs::~MadeSysfs() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void MadeSysfs::write(std::string const& path, std::string const& text) {
  fs::path const whole = root_ / path;
  fs::create_directories(whole.parent_path());
  std::ofstream(whole) << text << '\n';
}

void MadeSysfs::add_function(std::string const& path,
                             std::map<std::string, std::string> const& files) {
  fs::create_directories(root_ / "sys/devices" / path);
  for (auto const& [name, text] : files) write("sys/devices/" + path + "/" + name, text);
  fs::path const by_id = root_ / "sys/bus/pci/devices" / fs::path(path).filename();
  fs::create_directories(by_id.parent_path());
  if (!fs::exists(by_id)) fs::create_directory_symlink(root_ / "sys/devices" / path, by_id);
}

void MadeSysfs::link(std::string const& path, std::string const& function) {
  fs::path const whole = root_ / path;
  fs::create_directories(whole.parent_path());
  fs::create_directory_symlink(root_ / "sys/devices" / function, whole);
}

void MadeSysfs::add_interface(std::string const& name, std::string const& function,
                              std::map<std::string, std::string> const& files) {
  std::string const folder = "sys/class/net/" + name;
  std::map<std::string, std::string> all{{"operstate", "up"},
                                         {"carrier", "1"},
                                         {"speed", "25000"},
                                         {"type", "1"},
                                         {"flags", "0x1003"}};
  for (auto const& [file, text] : files) all[file] = text;
  for (auto const& [file, text] : all) write(folder + "/" + file, text);
  if (function.empty()) return;
  add_function(function);
  link(folder + "/device", function);
}

void MadeSysfs::add_verbs(std::string const& name, std::string const& function,
                          std::map<std::string, std::string> const& files) {
  std::string const folder = "sys/class/infiniband/" + name;
  std::map<std::string, std::string> all{{"ports/1/state", "4: ACTIVE"},
                                         {"ports/1/rate", "400 Gb/sec (4X NDR)"},
                                         {"ports/1/link_layer", "InfiniBand"}};
  for (auto const& [file, text] : files) all[file] = text;
  for (auto const& [file, text] : all) write(folder + "/" + file, text);
  if (function.empty()) return;
  add_function(function);
  link(folder + "/device", function);
}

void MadeSysfs::stack(std::string const& upper, std::string const& lower) {
  fs::create_directory_symlink(root_ / "sys/class/net" / lower,
                               root_ / "sys/class/net" / upper / ("lower_" + lower));
}

}  // namespace berth::test
