// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The texts of --help. They are written by hand to fit a screen; a test compares them with the
/// options that are accepted.
namespace berth::cli {

std::string_view help_text();
std::string_view info_help();
std::string_view map_help();
std::string_view verify_help();
std::string_view bench_help();

}  // namespace berth::cli
