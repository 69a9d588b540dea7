// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The folders of sysfs. All paths are whole; the caller puts a root prefix in front.
namespace berth::sys {

/// Names of the entries of a folder, sorted; none when it cannot be read. At most 65536.
std::vector<std::string> list_folder(std::string const& path);
/// Whether something is there, also behind links.
bool exists(std::string const& path);
/// The components of the path that `path` leads to when all links are followed; none when it leads
/// nowhere. "/sys/class/net/eth0/device" -> ... "pci0000:00" "0000:00:01.0" "0000:01:00.0"
std::vector<std::string> resolved(std::string const& path);

}  // namespace berth::sys
