// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::base {

/// Numbers as a list of ranges, the way the kernel writes CPU lists: 0 1 2 3 8 -> "0-3,8". Order
/// and duplicates do not matter; no number: "".
std::string format_ranges(std::vector<int> numbers);

}  // namespace berth::base
