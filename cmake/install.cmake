# The libraries, their headers, and how CMake and pkg-config find them. Everything can be moved after it is installed.
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fovea DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS fovea_core EXPORT foveaCoreTargets)
install(EXPORT foveaCoreTargets NAMESPACE fovea:: DESTINATION ${cmake_folder})
set(pc_files fovea-core)
if(TARGET fovea)
  install(TARGETS fovea EXPORT foveaTargets)
  install(EXPORT foveaTargets NAMESPACE fovea:: DESTINATION ${cmake_folder})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindSentencePiece.cmake DESTINATION ${cmake_folder})
  list(APPEND pc_files fovea)
endif()
if(TARGET fovea_binary)
  install(TARGETS fovea_binary RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  include(packaging/package.cmake)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/foveaConfig.cmake.in ${PROJECT_BINARY_DIR}/foveaConfig.cmake
  INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/foveaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/foveaConfig.cmake ${PROJECT_BINARY_DIR}/foveaConfigVersion.cmake
  DESTINATION ${cmake_folder})

file(RELATIVE_PATH FOVEA_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name IN LISTS pc_files)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
