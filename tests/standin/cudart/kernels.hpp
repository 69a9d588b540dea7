// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

#include "graph.hpp"
#include "stream.hpp"

namespace berth::standin {

/// A kernel that the program brought along: what nvcc calls it, and the host function that stands
/// for it in the program.
struct Kernel {
  std::string name;
  void const* symbol = nullptr;
  void** binary = nullptr;
};

/// Fails with cudaErrorInvalidDeviceFunction; knows a kernel by symbol, cudaFunction_t and
/// cudaKernel_t.
Kernel const& find_kernel(void const* any);

struct LaunchShape {
  dim3 grid;
  dim3 block;
};

/// Fails unless somebody registered a host version of the kernel. `borrows_arguments` is set when
/// the sizes of the parameters are not known: then `arguments` have to live until it has run.
Step kernel_step(void const* kernel, LaunchShape const& shape, void** arguments,
                 bool& borrows_arguments);
void launch(void const* kernel, LaunchShape const& shape, void** arguments, Stream& stream);

/// A place in a __device__ variable; fails with cudaErrorInvalidSymbol, or cudaErrorInvalidValue
/// if `count` bytes do not fit.
std::byte* in_variable(void const* symbol, std::size_t offset, std::size_t count);

}  // namespace berth::standin
