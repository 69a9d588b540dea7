// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <comm/seams.hpp>

/// The command line tool. The only room that knows argv, exit codes and stdout.
namespace berth::cli {

/// The whole of `berth`: parses, runs the verb, prints, and returns the exit code of docs/cli.md.
/// Never throws. Does not return when a rank is lost: the watchdog ends the process.
/// @param seams what tests put between the parts of a communicator; empty in the tool
int run(int argc, char const* const* argv, comm::Seams seams) noexcept;

}  // namespace berth::cli
