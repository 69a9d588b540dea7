// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace berth::standin {

/// One thing that a stream does. Also what an event remembers and what others wait for.
struct Work {
  std::function<void()> run;
  std::vector<std::shared_ptr<Work>> after;        ///< of other streams, done before this one
  std::chrono::steady_clock::time_point finished;  ///< valid once done

  [[nodiscard]] bool is_done() const { return done_.load(std::memory_order_acquire) != 0; }
  void wait() const { done_.wait(0, std::memory_order_acquire); }
  void finish() {
    finished = std::chrono::steady_clock::now();
    done_.store(1, std::memory_order_release);
    done_.notify_all();
  }

 private:
  std::atomic<int> done_{0};
};
using WorkPtr = std::shared_ptr<Work>;

}  // namespace berth::standin
