# Headers, both libraries, and what finds them: a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

# A wheel holds no links, so its library has no versioned names.
if(NOT SKBUILD)
  set_target_properties(
    dmlcpu_shared PROPERTIES VERSION ${PROJECT_VERSION}
                             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()

install(DIRECTORY cpp/include/dmlcpu DESTINATION ${DMLCPU_INSTALL_INCLUDEDIR})
install(TARGETS dmlcpu_shared EXPORT dmlcpuTargets LIBRARY DESTINATION ${DMLCPU_INSTALL_LIBDIR})
install(TARGETS dmlcpu_static EXPORT dmlcpuStaticTargets
        ARCHIVE DESTINATION ${DMLCPU_INSTALL_LIBDIR})
foreach(export dmlcpuTargets dmlcpuStaticTargets)
  install(EXPORT ${export} NAMESPACE dmlcpu:: DESTINATION ${DMLCPU_INSTALL_CMAKEDIR})
endforeach()

configure_package_config_file(
  cmake/dmlcpuConfig.cmake.in dmlcpuConfig.cmake INSTALL_DESTINATION ${DMLCPU_INSTALL_CMAKEDIR})
write_basic_package_version_file(dmlcpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dmlcpuConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/dmlcpuConfigVersion.cmake
        DESTINATION ${DMLCPU_INSTALL_CMAKEDIR})

# Found from where the file lies, so that the prefix can be moved.
file(RELATIVE_PATH dmlcpu_pc_includedir /${DMLCPU_INSTALL_PKGCONFIGDIR}
     /${DMLCPU_INSTALL_INCLUDEDIR})
configure_file(cmake/dmlcpu.pc.in dmlcpu.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dmlcpu.pc DESTINATION ${DMLCPU_INSTALL_PKGCONFIGDIR})
