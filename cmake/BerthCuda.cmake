# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0

# CUDA and NCCL: headers alone. The libraries are opened while the program runs, so that one build
# serves machines with and without a GPU. Without the headers their twins are built.
option(BERTH_CUDA "use CUDA and NCCL where their headers are found" ON)
set(BERTH_CUDA_INCLUDE "")
set(BERTH_NCCL_INCLUDE "")
if(BERTH_CUDA)
  find_path(BERTH_CUDA_HEADERS cuda_runtime_api.h
    HINTS ENV CUDA_HOME ENV CUDA_PATH ENV CUDAToolkit_ROOT PATHS /usr/local/cuda /opt/cuda
    PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include)
  find_path(BERTH_NCCL_HEADERS nccl.h
    HINTS ENV NCCL_HOME ENV NCCL_ROOT ${BERTH_CUDA_HEADERS} PATHS /usr/local/cuda
    PATH_SUFFIXES include)
  mark_as_advanced(BERTH_CUDA_HEADERS BERTH_NCCL_HEADERS)
  if(BERTH_CUDA_HEADERS)
    set(BERTH_CUDA_INCLUDE ${BERTH_CUDA_HEADERS})
  endif()
  if(BERTH_NCCL_HEADERS)
    set(BERTH_NCCL_INCLUDE ${BERTH_NCCL_HEADERS})
  endif()
endif()
if(BERTH_CUDA_INCLUDE AND BERTH_NCCL_INCLUDE)
  message(STATUS "CUDA and NCCL: headers found, the nccl backend is built")
else()
  message(STATUS "CUDA and NCCL: headers not found, the nccl backend is left out")
endif()
