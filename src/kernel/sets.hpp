// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kernel/reduce.hpp>

/// The tables of the instruction sets; private to the room. Calling into a table whose instructions
/// the processor lacks ends the process: only dispatch.cpp chooses.
namespace berth::kernel {

#if defined(__aarch64__)
/// What every processor of the architecture can run.
extern Kernels const neon_kernels;
#else
/// What every processor of the architecture can run.
extern Kernels const baseline_kernels;
#endif
#if defined(__x86_64__)
/// Needs avx2 and f16c.
extern Kernels const avx2_kernels;
/// Needs avx512f, avx512bw, avx512dq, avx512vl and f16c.
extern Kernels const avx512_kernels;
#endif

}  // namespace berth::kernel
