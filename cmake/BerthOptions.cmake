# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
include(CMakeDependentOption)
option(BERTH_TESTS "build the tests" ${PROJECT_IS_TOP_LEVEL})
option(BERTH_MICRO_BENCHMARKS "build bench/micro (needs Google Benchmark)" ${PROJECT_IS_TOP_LEVEL})
option(BERTH_CORE_ONLY "build only the rooms that need no MPI, and their tests" OFF)
option(BERTH_WERROR "treat warnings as errors" OFF)
set(BERTH_SANITIZE "" CACHE STRING "sanitizers, for example address,undefined or thread")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Flags for Berth's own targets only; nothing global.
add_library(berth_flags INTERFACE)
target_compile_features(berth_flags INTERFACE cxx_std_20)
target_compile_options(berth_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wundef -fvisibility=hidden -fvisibility-inlines-hidden -ffp-contract=off
  $<$<BOOL:${BERTH_WERROR}>:-Werror>
  # GCC 12 sees overlaps in std::string::insert that are not there (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(BERTH_SANITIZE)
  target_compile_options(berth_flags INTERFACE -fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all
                                               -fno-omit-frame-pointer)
  target_link_options(berth_flags INTERFACE -fsanitize=${BERTH_SANITIZE})
endif()
