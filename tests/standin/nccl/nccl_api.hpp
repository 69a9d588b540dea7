// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// nccl.h with every function of it exported; the CUDA headers come first, so that theirs are not.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop
