# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0

# Fuzzers need Clang's libFuzzer: cmake --preset fuzz. Everywhere else their corpus is replayed.
option(BERTH_FUZZERS "build the fuzzers (Clang)" OFF)
set(BERTH_FUZZ_SECONDS 600 CACHE STRING "how long ctest runs each fuzzer")
if(BERTH_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "BERTH_FUZZERS needs Clang: cmake --preset fuzz")
endif()
add_custom_target(berth_fuzzers)

# berth_add_fuzzer(NAME SOURCES a_fuzzer.cpp ... [LIBRARIES lib ...] [DICTIONARY file])
# The sources define LLVMFuzzerTestOneInput, which ends the process on a finding. One ctest entry
# fuzz.NAME_corpus replays tests/fuzz/corpus/NAME; with BERTH_FUZZERS another, fuzz.NAME, searches for
# BERTH_FUZZ_SECONDS and keeps what it found interesting in the build folder.
function(berth_add_fuzzer name)
  cmake_parse_arguments(ARG "" "DICTIONARY" "SOURCES;LIBRARIES" ${ARGN})
  set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  berth_add_test(fuzz.${name}_corpus SOURCES ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp
                 MAIN none LIBRARIES ${ARG_LIBRARIES} ARGS ${seeds} LABELS fuzz)
  if(NOT BERTH_FUZZERS)
    return()
  endif()
  set(target fuzz_${name})
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${target} PRIVATE berth_flags ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  add_dependencies(berth_fuzzers ${target})
  set(found ${PROJECT_BINARY_DIR}/tests/fuzz/${name})
  file(MAKE_DIRECTORY ${found})
  set(arguments -max_total_time=${BERTH_FUZZ_SECONDS} -timeout=20 -print_final_stats=1
                -artifact_prefix=${found}/finding-)
  if(ARG_DICTIONARY)
    list(APPEND arguments -dict=${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DICTIONARY})
  endif()
  add_test(NAME fuzz.${name} COMMAND ${target} ${arguments} ${found} ${seeds})
  math(EXPR limit "${BERTH_FUZZ_SECONDS} + 300")
  berth_test_properties(fuzz.${name} LABELS slow TIMEOUT ${limit})
endfunction()
