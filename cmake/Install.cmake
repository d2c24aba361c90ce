# Headers, the libraries, and what finds them: a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

# A part of another project that does not install dmlcpu has these rules all the same: what that project exports may
# name the libraries, and the component dmlcpu can be installed by itself.
set(dmlcpu_component COMPONENT dmlcpu)
if(NOT DMLCPU_INSTALL)
  list(APPEND dmlcpu_component EXCLUDE_FROM_ALL)
endif()

# A wheel holds no links: its library is one file, named like the soname, and -ldmlcpu finds a linker script; on macOS,
# which has none, no version is in its name.
set(dmlcpu_namelink)
if(DMLCPU_IN_WHEEL AND APPLE)
  set_property(TARGET dmlcpu_shared PROPERTY VERSION)
  set_property(TARGET dmlcpu_shared PROPERTY SOVERSION)
elseif(DMLCPU_IN_WHEEL AND UNIX)
  set_target_properties(dmlcpu_shared PROPERTIES VERSION ${dmlcpu_soversion})
  set(dmlcpu_namelink NAMELINK_SKIP)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/namelink/libdmlcpu.so
       "/* GNU ld script */\nINPUT(libdmlcpu.so.${dmlcpu_soversion})\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/namelink/libdmlcpu.so
          DESTINATION ${DMLCPU_INSTALL_LIBDIR} ${dmlcpu_component})
endif()

install(DIRECTORY cpp/include/dmlcpu DESTINATION ${DMLCPU_INSTALL_INCLUDEDIR} ${dmlcpu_component})
install(TARGETS dmlcpu_shared EXPORT dmlcpuTargets
        RUNTIME DESTINATION ${DMLCPU_INSTALL_BINDIR} ${dmlcpu_component}
        ARCHIVE DESTINATION ${DMLCPU_INSTALL_LIBDIR} ${dmlcpu_component}
        LIBRARY DESTINATION ${DMLCPU_INSTALL_LIBDIR} ${dmlcpu_component} ${dmlcpu_namelink})
set(dmlcpu_exports dmlcpuTargets)
if(DMLCPU_IN_WHEEL)
  # It would be half of the wheel, which few who install a Python package link.
  set_target_properties(dmlcpu_static PROPERTIES EXCLUDE_FROM_ALL TRUE)
else()
  list(APPEND dmlcpu_exports dmlcpuStaticTargets)
  install(TARGETS dmlcpu_static EXPORT dmlcpuStaticTargets
          ARCHIVE DESTINATION ${DMLCPU_INSTALL_LIBDIR} ${dmlcpu_component})
endif()
foreach(export IN LISTS dmlcpu_exports)
  install(EXPORT ${export} NAMESPACE dmlcpu:: DESTINATION ${DMLCPU_INSTALL_CMAKEDIR}
          ${dmlcpu_component})
endforeach()

configure_package_config_file(
  cmake/dmlcpuConfig.cmake.in dmlcpuConfig.cmake INSTALL_DESTINATION ${DMLCPU_INSTALL_CMAKEDIR})
write_basic_package_version_file(dmlcpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dmlcpuConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/dmlcpuConfigVersion.cmake
        DESTINATION ${DMLCPU_INSTALL_CMAKEDIR} ${dmlcpu_component})

# Found from where the file lies, so that the prefix can be moved.
file(RELATIVE_PATH dmlcpu_pc_includedir /${DMLCPU_INSTALL_PKGCONFIGDIR}
     /${DMLCPU_INSTALL_INCLUDEDIR})
# What linking the static library needs beyond it: OpenMP, and what this C++ compiler adds by itself.
set(dmlcpu_pc_private)
if(OpenMP_CXX_FOUND)
  list(APPEND dmlcpu_pc_private ${OpenMP_CXX_LIB_NAMES})
endif()
list(APPEND dmlcpu_pc_private ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES} pthread)
# The compiler of any language adds these.
list(FILTER dmlcpu_pc_private EXCLUDE REGEX "^(gcc|gcc_s|c|.*/.*)$")
list(REMOVE_DUPLICATES dmlcpu_pc_private)
list(TRANSFORM dmlcpu_pc_private PREPEND -l)
list(JOIN dmlcpu_pc_private " " dmlcpu_pc_private)
configure_file(cmake/dmlcpu.pc.in dmlcpu.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dmlcpu.pc DESTINATION ${DMLCPU_INSTALL_PKGCONFIGDIR}
        ${dmlcpu_component})
