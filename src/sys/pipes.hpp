// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::sys {

/// A write to a pipe that nobody reads fails from now on instead of ending the process. For
/// programs; the library does not touch signals.
void ignore_broken_pipes() noexcept;

}  // namespace berth::sys
