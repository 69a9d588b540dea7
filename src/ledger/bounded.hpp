// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

namespace berth::ledger {

/// Runs a call of somebody else's library that may never come back on a thread of its own and
/// waits for it no longer than `limit`. True: it has come back. False: the thread goes on alone,
/// so everything that `call` uses belongs to it; or no thread could be made and nothing has run.
/// An exception of `call` ends the process. Local.
bool run_bounded(std::function<void()> call, std::chrono::milliseconds limit) noexcept;

}  // namespace berth::ledger
