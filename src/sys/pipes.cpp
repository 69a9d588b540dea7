// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <sys/pipes.hpp>

namespace berth::sys {

void ignore_broken_pipes() noexcept {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
}

}  // namespace berth::sys
