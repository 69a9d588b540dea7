// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#define BERTH_VECTOR_BYTES 32
#include <kernel/table.inc>

namespace berth::kernel {

constinit Kernels const avx2_kernels = make_kernels("avx2");

}  // namespace berth::kernel
