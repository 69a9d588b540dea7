// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <model/verdicts.hpp>

/// The text of `berth info`.
namespace berth::report {

/// What this build and this machine can do, and every variable with the origin of its value.
std::string info_text(model::InfoReport const& report);

}  // namespace berth::report
