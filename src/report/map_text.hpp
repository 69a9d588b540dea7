// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <model/map.hpp>

/// The text of `berth map`.
namespace berth::report {

/// One table per host, a line for every compromise, and the verdict as the last line.
std::string map_text(model::MapReport const& report);

}  // namespace berth::report
