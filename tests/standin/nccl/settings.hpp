// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// What the environment says: NCCL's own variables, read as NCCL reads them, and STANDIN_NCCL_*.
#pragma once

#include <string>
#include <string_view>

namespace standin {

/// Value of an environment variable; empty when it is not set.
std::string setting(char const* name);

/// An integer of NCCL's: strtoll with base 0 and no check of what follows, as NCCL does it.
long long nccl_integer(char const* name, long long fallback);

/// Says on stderr what is wrong with a STANDIN_ variable, and aborts: a test that asks for a fault
/// must not run without it.
[[noreturn]] void bad_setting(std::string_view name, std::string_view text, std::string_view why);

/// The whole of `text` as a number from `least` to `most`, or bad_setting().
long long strict_integer(std::string_view name, std::string_view text, long long least,
                         long long most);

/// What ncclGetVersion returns: STANDIN_NCCL_VERSION, else the version this library was built as.
int version();

/// In version.cpp or version_old.cpp.
extern int const built_version;

}  // namespace standin
