// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <base/clock.hpp>

namespace berth::base {

nanoseconds SteadyClock::now() const {
  return std::chrono::duration_cast<nanoseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace berth::base
