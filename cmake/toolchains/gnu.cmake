# g++ for another processor or system, as Debian names it: -DDMLCPU_TRIPLE=aarch64-linux-gnu, s390x-linux-gnu,
# x86_64-w64-mingw32. What it builds runs in an emulator.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DMLCPU_TRIPLE)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${DMLCPU_TRIPLE}")
if(DMLCPU_TRIPLE MATCHES "mingw")
  set(CMAKE_SYSTEM_NAME Windows)
  # With the threads of POSIX, which std::thread needs.
  set(CMAKE_CXX_COMPILER ${DMLCPU_TRIPLE}-g++-posix)
  set(CMAKE_RC_COMPILER ${DMLCPU_TRIPLE}-windres)
  set(CMAKE_CROSSCOMPILING_EMULATOR wine)
else()
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_CXX_COMPILER ${DMLCPU_TRIPLE}-g++)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR} -L /usr/${DMLCPU_TRIPLE})
endif()
