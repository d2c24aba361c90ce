# clang and the libraries of many systems in one Python package, ziglang: -DDMLCPU_TRIPLE=x86_64-linux-musl,
# aarch64-linux-musl, x86_64-macos, aarch64-macos. -DDMLCPU_ZIG names a program that runs `zig`, `python -m ziglang`.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DMLCPU_TRIPLE DMLCPU_ZIG)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${DMLCPU_TRIPLE}")
if(DMLCPU_TRIPLE MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  # zig's linker crashes on bundles. Python loads dynamic libraries as well.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/zig-modules.cmake
       CONTENT "set(CMAKE_SHARED_MODULE_CREATE_CXX_FLAGS -dynamiclib)\n" @ONLY)
  set(CMAKE_USER_MAKE_RULES_OVERRIDE_CXX ${CMAKE_BINARY_DIR}/zig-modules.cmake)
else()
  set(CMAKE_SYSTEM_NAME Linux)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR})
  endif()
endif()
set(CMAKE_CXX_COMPILER ${DMLCPU_ZIG} c++ -target ${DMLCPU_TRIPLE})
# CMake takes one program for each of these.
foreach(tool IN ITEMS ar ranlib)
  string(TOUPPER ${tool} name)
  set(CMAKE_${name} ${CMAKE_BINARY_DIR}/zig-${tool})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/zig-${tool} CONTENT "#!/bin/sh\nexec '@DMLCPU_ZIG@' @tool@ \"$@\"\n" @ONLY)
  file(CHMOD ${CMAKE_BINARY_DIR}/zig-${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
