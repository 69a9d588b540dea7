// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include <cuda_runtime_api.h>

#include "stream.hpp"

namespace berth::standin {

void require_pool(cudaMemPool_t pool);
/// There at once; not during a capture.
void* allocate_in_stream(std::size_t size, Stream& stream);
void free_in_stream(void* at, Stream& stream);

}  // namespace berth::standin
