// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>

#include <cuda_runtime_api.h>

/// How a program gives the stand-in CUDA runtime host versions of its kernels.
extern "C" {
/// Runs on the thread of the stream; `args` points to the arguments, as for cudaLaunchKernel. The
/// name is the mangled one. Null takes the host version away.
void standin_register_kernel(char const* name, void (*run)(dim3 grid, dim3 block, void** args));
/// Says how large the parameters are. Without this the stand-in cannot keep the arguments: a launch
/// then returns only when the kernel is done, and cannot be captured.
void standin_set_kernel_parameters(char const* name, size_t count, size_t const* sizes);
}

namespace berth::standin {

template <auto Run>
struct Unpacked;

template <typename... Parameters, void (*Run)(dim3, dim3, Parameters...)>
struct Unpacked<Run> {
  static void run(dim3 grid, dim3 block, void** args) {
    run(grid, block, args, std::index_sequence_for<Parameters...>{});
  }
  static void enroll(char const* name) {
    // One more, so that it is never empty.
    size_t const sizes[] = {sizeof(Parameters)..., 0};
    standin_set_kernel_parameters(name, sizeof...(Parameters), sizes);
    standin_register_kernel(name, &run);
  }

 private:
  template <size_t... Index>
  static void run(dim3 grid, dim3 block, [[maybe_unused]] void** args,
                  std::index_sequence<Index...>) {
    Run(grid, block, *static_cast<Parameters*>(args[Index])...);
  }
};

/// register_kernel<&fill_on_host>("_Z4fillPfm") where void fill_on_host(dim3, dim3, float*,
/// size_t).
template <auto Run>
void register_kernel(char const* name) {
  Unpacked<Run>::enroll(name);
}

}  // namespace berth::standin
