# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
find_package(Threads REQUIRED)
find_package(MPI 3.1 REQUIRED COMPONENTS C)
find_package(fmt REQUIRED)
# The headers alone: src/base/fmt_code.cpp compiles fmt's code once for everybody.
add_library(berth_fmt INTERFACE)
target_include_directories(berth_fmt SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc>=2.5)
# The code of pugixml goes into libberth, so that nobody needs the package at run time.
find_package(pugixml REQUIRED)
add_library(berth_pugixml INTERFACE)
if(TARGET pugixml::static)
  target_link_libraries(berth_pugixml INTERFACE pugixml::static)
  target_link_options(berth_pugixml INTERFACE LINKER:--exclude-libs,libpugixml.a)
else()
  target_link_libraries(berth_pugixml INTERFACE pugixml::pugixml)
endif()
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
# The C bindings are all that Berth uses; the C++ ones of old MPIs only slow the compiler.
add_library(berth_mpi_interface INTERFACE)
target_link_libraries(berth_mpi_interface INTERFACE MPI::MPI_C)
target_compile_definitions(berth_mpi_interface INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
