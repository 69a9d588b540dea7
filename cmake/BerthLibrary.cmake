# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0

# libberth.so from the rooms of the library, and one name for all rooms together.
set(_library_objects "")
set(_library_rooms "")
foreach(module IN LISTS BERTH_LIBRARY_MODULES)
  if(TARGET berth_${module})
    list(APPEND _library_rooms berth_${module})
    list(APPEND _library_objects $<TARGET_OBJECTS:berth_${module}>)
  endif()
endforeach()

# Link this into a program that uses private symbols, which libberth.so hides: bin/berth and tests.
add_library(berth_all_objects INTERFACE)
foreach(module IN LISTS BERTH_LIBRARY_MODULES BERTH_TOOL_MODULES)
  if(TARGET berth_${module} AND NOT module STREQUAL cli)
    target_sources(berth_all_objects INTERFACE $<TARGET_OBJECTS:berth_${module}>)
    target_link_libraries(berth_all_objects INTERFACE berth_${module})
  endif()
endforeach()

if(_library_objects)
  add_library(berth SHARED ${_library_objects})
  add_library(berth::berth ALIAS berth)
  set_target_properties(berth PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(berth PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Users need C++17 and mpi.h; what the rooms need beyond that stays inside.
  target_compile_features(berth PUBLIC cxx_std_17)
  target_compile_definitions(berth PUBLIC OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(berth PUBLIC MPI::MPI_C
                        PRIVATE Threads::Threads $<BUILD_INTERFACE:PkgConfig::HWLOC>
                                $<BUILD_INTERFACE:berth_pugixml> ${CMAKE_DL_LIBS})
  if(BERTH_SANITIZE)
    target_link_options(berth PRIVATE -fsanitize=${BERTH_SANITIZE})
  else()
    target_link_options(berth PRIVATE -Wl,--no-undefined)
  endif()
  include(BerthInstall)
endif()
