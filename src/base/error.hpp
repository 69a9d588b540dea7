// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include <berth/error.hpp>

namespace berth::base {

/// Throws berth::Error with `message` and, in debug logs, the place. `rank` is the rank at fault,
/// -1 when not known; inside a start-up step the error is then agreed (comm).
[[noreturn]] void fail(Errc code, std::string_view message, int rank = -1);

/// Throws Errc::system for a failed system call: "<what>: <text of errno> (<number>)".
[[noreturn]] void fail_errno(std::string_view what, int error);

/// The one line that a person sees: "berth: rank 5@n2: <message>"; the rank is left out at -1, the
/// host when empty. At most 511 bytes, no newline inside, no newline at the end.
std::string error_line(int rank, std::string_view host, std::string_view message);

/// Writes `line` and a newline to stderr with a single write of at most 512 bytes.
void write_stderr_line(std::string_view line) noexcept;

}  // namespace berth::base
