// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

/// Which machine this is.
namespace berth::sys {

struct HostIdentity {
  std::string name;     ///< host name as the kernel says, at most 64 bytes, printable
  std::string boot_id;  ///< /proc/sys/kernel/random/boot_id; empty when hidden
};

/// @param root prefix of /proc, for tests
HostIdentity host_identity(std::string const& root = {});

/// Whole small file without trailing newline; empty when it cannot be read. Regular files and
/// proc/sysfs only, at most `limit` bytes.
std::string read_small_file(std::string const& path, std::size_t limit = 65536);

/// 128 bits from the kernel's generator. @throws Error system
void random_bytes(void* out, std::size_t bytes);

}  // namespace berth::sys
