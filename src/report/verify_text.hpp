// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <model/verdicts.hpp>

/// The text of `berth verify`, piece by piece, as it becomes known.
namespace berth::report {

/// "berth 0.1.0: 16 ranks on 2 hosts, backend cpu, deadline 60 s".
std::string verify_header(model::VerifyReport const& report, std::string_view version,
                          std::chrono::milliseconds deadline);
/// "  roll call   16 of 16 present                    0.004 s".
std::string phase_line(PhaseTime const& phase);
/// "  rank 11@n2  float32, 1 MiB: delivers a flipped bit: ...", broken to fit.
std::string finding_lines(Finding const& finding);
/// The last line: "good: 16 ranks on 2 hosts, 0.456 s" or "bad: rank 11@n2 delivers wrong data; 15
/// of 16 ranks well; drain n2".
std::string verify_verdict(model::VerifyReport const& report);

}  // namespace berth::report
