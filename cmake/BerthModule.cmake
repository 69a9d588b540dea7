# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0

# berth_module(NAME SOURCES a.cpp ... [LIBRARIES lib ...])
# One room: an OBJECT library berth_NAME built from src/NAME. Tests link single rooms; libberth.so
# is assembled from all of them. What a room may include is checked by tools/check_layers.py.
function(berth_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(berth_${name} OBJECT ${ARG_SOURCES})
  set_target_properties(berth_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(berth_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(berth_${name} PUBLIC berth_flags berth_fmt ${ARG_LIBRARIES})
endfunction()
