// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <thread>
#include <utility>

#include <ledger/bounded.hpp>

namespace berth::ledger {

bool run_bounded(std::function<void()> call, std::chrono::milliseconds limit) noexcept {
  try {
    std::promise<void> done;
    std::future<void> const arrived = done.get_future();
    std::thread thread([call = std::move(call), done = std::move(done)]() mutable {
      call();
      done.set_value();
    });
    bool const in_time = arrived.wait_for(limit) == std::future_status::ready;
    if (in_time) {
      thread.join();
    } else {
      thread.detach();
    }
    return in_time;
  } catch (...) {
    return false;
  }
}

}  // namespace berth::ledger
