// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

// For files that are compiled twice: as they are, and with CUDA_API_PER_THREAD_DEFAULT_STREAM. The
// header of CUDA then renames the functions (cudaMemcpy_ptds, cudaStreamQuery_ptsz, ...), and the
// stream 0 is the calling thread's own.
namespace {

inline cudaStream_t chosen(cudaStream_t stream) {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  cudaStream_t const otherwise = cudaStreamPerThread;
#else
  cudaStream_t const otherwise = cudaStreamLegacy;
#endif
  return stream == nullptr ? otherwise : stream;
}

}  // namespace
