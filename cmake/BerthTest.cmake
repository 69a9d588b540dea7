# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
if(NOT BERTH_CORE_ONLY)  # which brings its own
  find_package(GTest REQUIRED)
endif()

# The launcher decides which of its switches and variables a test needs.
if(NOT BERTH_CORE_ONLY)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE _berth_mpiexec_version
                  ERROR_VARIABLE _berth_mpiexec_version_error)
endif()
if(_berth_mpiexec_version MATCHES "Open ?MPI|OpenRTE|prterun|PRRTE")
  set(BERTH_MPIEXEC_FLAGS --oversubscribe)
else()
  set(BERTH_MPIEXEC_FLAGS "")
endif()

# Root and two cores are normal for a test machine; the list of components is the short one that
# takes MPI_Init from 230 ms to 25 ms. Other MPIs ignore these variables.
set(BERTH_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_btl=self,vader
    OMPI_MCA_pml=ob1
    OMPI_MCA_mtl=^ofi
    OMPI_MCA_osc=^ucx
    OMPI_MCA_io=^romio321
    OMPI_MCA_btl_base_warn_component_unused=0
    LC_ALL=C.UTF-8)
if(BERTH_SANITIZE)
  # MPI implementations and hwloc never free some of what they allocate at start.
  list(APPEND BERTH_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0:abort_on_error=0
       UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
endif()
# A developer's own settings must not change what a test sees.
set(BERTH_TEST_CLEARED
    BERTH_BACKEND BERTH_BIND BERTH_ON_LOST BERTH_INIT_DEADLINE BERTH_OP_DEADLINE BERTH_LOG
    BERTH_LOG_FILE BERTH_SHARED_MEMORY BERTH_CUDART_LIB BERTH_NCCL_LIB BERTH_ALLOW_NCCL_COMM_ID
    BERTH_SITE BERTH_TOPOLOGY NCCL_COMM_ID NCCL_HOSTID NCCL_SOCKET_IFNAME NO_COLOR COLUMNS)
set(_berth_test_modification "")
foreach(variable IN LISTS BERTH_TEST_CLEARED)
  list(APPEND _berth_test_modification ${variable}=unset:)
endforeach()

add_library(berth_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/plain_main.cpp)
target_link_libraries(berth_test_main PRIVATE berth_flags GTest::gtest)
set_target_properties(berth_test_main PROPERTIES EXCLUDE_FROM_ALL ON)
if(NOT BERTH_CORE_ONLY)
  add_library(berth_test_mpi_main OBJECT EXCLUDE_FROM_ALL
              ${PROJECT_SOURCE_DIR}/tests/support/mpi_main.cpp
              ${PROJECT_SOURCE_DIR}/tests/support/attendance.cpp)
  target_link_libraries(berth_test_mpi_main PRIVATE berth_flags GTest::gtest berth_mpi_interface
                                                    Threads::Threads)
  target_include_directories(berth_test_mpi_main PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endif()

# Everything that ctest runs; `ninja` alone builds only what is installed. berth_tests_LABEL builds
# the tests of one label.
add_custom_target(berth_tests)
foreach(label unit mpi cluster cli consumer device lint fuzz slow threads)
  add_custom_target(berth_tests_${label})
endforeach()

# Sets the properties that every ctest entry of Berth has.
function(berth_test_properties test)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT;PROCESSORS" "LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 1)
  endif()
  set_tests_properties(${test} PROPERTIES TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${ARG_PROCESSORS}
    SKIP_RETURN_CODE 77 LABELS "${ARG_LABELS}" ENVIRONMENT "${BERTH_TEST_ENVIRONMENT}"
    ENVIRONMENT_MODIFICATION "${_berth_test_modification}")
  if(ARG_SERIAL)
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# berth_add_test(NAME SOURCES a_test.cpp ... [LIBRARIES lib ...] [RANKS n ...] [LABELS label ...]
#                [TIMEOUT seconds] [MAIN mpi|gtest|none] [ARGS arg ...] [SERIAL])
# One executable and one ctest entry NAME; with RANKS one entry NAME.npN per rank count, started by
# the launcher. MAIN is mpi with RANKS and gtest without; `none` brings its own main(). TIMEOUT is 60
# unless said otherwise; the MPI main's watchdog reports who is missing shortly before. SERIAL keeps
# other tests away while it runs. Exit code 77 is shown as "skipped".
function(berth_add_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT;MAIN" "SOURCES;LIBRARIES;RANKS;LABELS;ARGS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "berth_add_test(${name}): SOURCES missing or unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(NOT ARG_MAIN)
    set(ARG_MAIN gtest)
    if(ARG_RANKS)
      set(ARG_MAIN mpi)
    endif()
  endif()
  set(serial "")
  if(ARG_SERIAL)
    set(serial SERIAL)
  endif()
  string(REPLACE "." "_" target "test_${name}")
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${target} PRIVATE berth_flags ${ARG_LIBRARIES} GTest::gmock GTest::gtest)
  set(watchdog "")
  if(ARG_MAIN STREQUAL mpi)
    math(EXPR limit "${ARG_TIMEOUT} * 9 / 10 - 1")
    set(watchdog --limit=${limit})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:berth_test_mpi_main>)
    target_link_libraries(${target} PRIVATE berth_mpi_interface Threads::Threads)
  elseif(ARG_MAIN STREQUAL gtest)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:berth_test_main>)
  elseif(NOT ARG_MAIN STREQUAL none)
    message(FATAL_ERROR "berth_add_test(${name}): MAIN is mpi, gtest or none, not ${ARG_MAIN}")
  endif()
  add_dependencies(berth_tests ${target})
  foreach(label IN LISTS ARG_LABELS)
    add_dependencies(berth_tests_${label} ${target})
  endforeach()
  if(NOT ARG_RANKS)
    add_test(NAME ${name} COMMAND ${target} ${watchdog} ${ARG_ARGS})
    berth_test_properties(${name} LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT} ${serial})
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}.np${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${BERTH_MPIEXEC_FLAGS}
             ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${target}> ${watchdog} ${ARG_ARGS})
    set(processors ${ranks})
    if(processors GREATER 2)
      set(processors 2)
    endif()
    berth_test_properties(${name}.np${ranks} LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT}
                          PROCESSORS ${processors} ${serial})
  endforeach()
endfunction()
