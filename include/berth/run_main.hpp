// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <berth/export.hpp>

namespace berth {

/// Runs `body` and turns an uncaught Error into one line on stderr and its exit code, without a
/// core file and without waiting for ranks that are lost. Use it as the body of main().
/// Returns what `body` returns. Does not return when a rank is lost: the process ends.
BERTH_API int run_main(std::function<int()> const& body) noexcept;

}  // namespace berth
