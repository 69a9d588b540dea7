# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0

# What a build of BERTH_CORE_ONLY uses instead of the packages of the target, which a cross build
# rarely has: fmt's headers, and GoogleTest's sources, from the machine that builds.
find_package(Threads REQUIRED)
find_path(BERTH_FMT_INCLUDE fmt/format.h NO_CMAKE_FIND_ROOT_PATH REQUIRED)
# A folder with fmt alone: the other headers beside it belong to the machine that builds.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fmt)
file(CREATE_LINK ${BERTH_FMT_INCLUDE}/fmt ${PROJECT_BINARY_DIR}/fmt/fmt SYMBOLIC)
add_library(berth_fmt INTERFACE)
target_include_directories(berth_fmt SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/fmt)

if(BERTH_TESTS)
  set(BERTH_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "sources of GoogleTest")
  set(INSTALL_GTEST OFF CACHE BOOL "")
  add_subdirectory(${BERTH_GOOGLETEST_SOURCE} googletest EXCLUDE_FROM_ALL)
endif()
