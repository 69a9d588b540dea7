// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <model/sweep.hpp>
#include <report/text.hpp>

/// The texts of `berth bench`.
namespace berth::report {

/// The whole table, one part per type and operation, with the verdict as its last line.
std::string bench_text(model::Sweep const& sweep, Style style);
/// One line per measured variant, for spreadsheets: a header and decimal points in any locale.
std::string bench_csv(model::Sweep const& sweep);
/// Elements that were wrong, over all results.
std::size_t wrong_elements(model::Sweep const& sweep);
/// "[==========>         ] 11 of 24 sizes, 2 MiB, about 9 s left".
std::string progress_line(int done, int total, std::size_t bytes, double seconds_left);

}  // namespace berth::report
