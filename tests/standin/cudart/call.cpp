// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <atomic>

#include <pthread.h>

#include "settings.hpp"

namespace berth::standin {
namespace {

std::atomic<int> sticky{cudaSuccess};
std::atomic<bool> forked{false};
thread_local cudaError_t last_error = cudaSuccess;
thread_local int inside_host_function = 0;

// A forked child has none of the threads that serve the streams. CUDA refuses it as well.
void watch_forks() {
  static int const registered =
      pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

}  // namespace

void enter(Needs needs) {
  if (forked.load(std::memory_order_relaxed)) fail(cudaErrorInitializationError);
  if (inside_host_function > 0) fail(cudaErrorNotPermitted);
  if (sticky_error() != cudaSuccess) fail(sticky_error());
  if (needs == Needs::nothing) return;
  Settings const& settings = Settings::get();
  watch_forks();
  require(!settings.faults.count_error, settings.faults.count_error.value_or(cudaSuccess));
  require(!settings.visible.empty() && !settings.faults.count_zero, cudaErrorNoDevice);
}

cudaError_t note(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

void make_sticky(cudaError_t code) {
  int none = cudaSuccess;
  sticky.compare_exchange_strong(none, code);
}

cudaError_t sticky_error() {
  return static_cast<cudaError_t>(sticky.load(std::memory_order_acquire));
}

NoCallsHere::NoCallsHere() {
  ++inside_host_function;
}
NoCallsHere::~NoCallsHere() {
  --inside_host_function;
}

}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaPeekAtLastError() {
  return sticky_error() != cudaSuccess ? sticky_error() : last_error;
}

cudaError_t cudaGetLastError() {
  cudaError_t const code = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return code;
}
