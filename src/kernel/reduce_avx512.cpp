// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#define BERTH_VECTOR_BYTES 64
#include <kernel/table.inc>

namespace berth::kernel {

constinit Kernels const avx512_kernels = make_kernels("avx512");

}  // namespace berth::kernel
