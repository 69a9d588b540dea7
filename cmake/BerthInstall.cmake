# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

install(TARGETS berth EXPORT berth LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/berth ${PROJECT_BINARY_DIR}/include/berth
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/berth)
install(EXPORT berth NAMESPACE berth:: FILE berth-targets.cmake DESTINATION ${_package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/berth-config.cmake.in
  ${PROJECT_BINARY_DIR}/berth-config.cmake INSTALL_DESTINATION ${_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berth-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/berth-config.cmake
  ${PROJECT_BINARY_DIR}/berth-config-version.cmake DESTINATION ${_package})
configure_file(${PROJECT_SOURCE_DIR}/cmake/berth.pc.in ${PROJECT_BINARY_DIR}/berth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/berth.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
