// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth::base {

/// "8", "64K", "1M", "4G" (powers of 1024, also in lower case, as nccl-tests), "KiB MiB GiB"
/// (1024), "KB MB GB" (1000), "B". Absent for anything else: signs, spaces, fractions, overflow.
std::optional<std::size_t> parse_bytes(std::string_view text);
/// "500ms", "3s", "2min", "1h"; a bare number is seconds; fractions allowed ("0.5").
/// Rounded up to whole milliseconds. Absent for anything else, negative or above 100 days.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// Decimal digits only, within [low, high].
std::optional<long long> parse_integer(std::string_view text, long long low, long long high);
/// 1024 -> "1 KiB", 8 -> "8 B", 1536 -> "1.5 KiB".
std::string format_bytes(std::size_t bytes);
/// 70113 -> "70,113", in any locale.
std::string format_count(unsigned long long number);
/// "0.412 s", "59.8 s", "0.004 s": three digits, always seconds; a fourth below one millisecond.
std::string format_seconds(double seconds);

}  // namespace berth::base
