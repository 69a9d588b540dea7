// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <new>
#include <type_traits>

#include <cuda_runtime_api.h>

/// What every exported function does before and after its own work.
namespace berth::standin {

/// Thrown inside an exported function; the caller gets the code.
struct Failure {
  cudaError_t code;
};

[[noreturn]] inline void fail(cudaError_t code) {
  throw Failure{code};
}
inline void require(bool good, cudaError_t otherwise = cudaErrorInvalidValue) {
  if (!good) fail(otherwise);
}

enum class Needs { device, nothing };

/// Throws what the whole process suffers from: a fork, a sticky error, no device, or that the
/// calling thread is inside a host function of a stream.
void enter(Needs needs);
/// Keeps `code` for cudaGetLastError and returns it.
cudaError_t note(cudaError_t code);
/// From now on every call of this process returns `code`.
void make_sticky(cudaError_t code);
cudaError_t sticky_error();

/// Forbids CUDA calls on this thread while it lives: host functions may make none.
class NoCallsHere {
 public:
  NoCallsHere();
  ~NoCallsHere();
  NoCallsHere(NoCallsHere const&) = delete;
  NoCallsHere& operator=(NoCallsHere const&) = delete;
};

template <typename Body>
cudaError_t call(Needs needs, Body const& body) {
  try {
    enter(needs);
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return cudaSuccess;
    } else {
      return note(body());
    }
  } catch (Failure const& failure) {
    return note(failure.code);
  } catch (std::bad_alloc const&) {
    return note(cudaErrorMemoryAllocation);
  } catch (...) {
    return note(cudaErrorUnknown);
  }
}

template <typename Body>
cudaError_t call(Body const& body) {
  return call(Needs::device, body);
}

}  // namespace berth::standin
