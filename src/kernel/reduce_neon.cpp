// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#define BERTH_VECTOR_BYTES 16
#include <kernel/table.inc>

namespace berth::kernel {

constinit Kernels const neon_kernels = make_kernels("neon");

}  // namespace berth::kernel
