# What makes mistakes in memory harder to exploit, where the compiler and the linker have it.

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

# Frames that reach past the stack's guard page touch it, instead of what lies beyond; jumps and returns by address go to
# where they may (CET). Frames have no canaries: those of -fstack-protector make small calls take a twentieth longer.
# For Windows every frame is touched anyway, and g++ 12 ends with an internal error if it is asked to; clang for macOS
# warns that it does nothing.
set(dmlcpu_protections cf-protection)
if(NOT WIN32 AND NOT APPLE)
  list(APPEND dmlcpu_protections stack-clash-protection)
endif()
foreach(flag IN LISTS dmlcpu_protections)
  string(TOUPPER "DMLCPU_HAS_${flag}" has)
  string(REPLACE "-" "_" has ${has})
  check_cxx_compiler_flag(-f${flag} ${has})
  if(${has})
    add_compile_options(-f${flag})
  endif()
endforeach()

# Copies whose size the compiler knows are checked. Needs optimisation; sanitizers check more by themselves.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT DMLCPU_SANITIZE)
  foreach(level IN ITEMS 3 2)
    set(CMAKE_REQUIRED_FLAGS -O2)
    check_cxx_source_compiles(
      "#undef _FORTIFY_SOURCE\n#define _FORTIFY_SOURCE ${level}\n#include <cstring>\nint main() {}
      #if !defined(__USE_FORTIFY_LEVEL) || __USE_FORTIFY_LEVEL < ${level}\n#error\n#endif" DMLCPU_HAS_FORTIFY_${level})
    unset(CMAKE_REQUIRED_FLAGS)
    if(DMLCPU_HAS_FORTIFY_${level})
      add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
      break()
    endif()
  endforeach()
endif()

# Addresses of other libraries' functions are found when a library is loaded, and read-only from then on.
check_linker_flag(CXX LINKER:-z,relro,-z,now DMLCPU_HAS_RELRO)
if(DMLCPU_HAS_RELRO)
  add_link_options(LINKER:-z,relro,-z,now)
endif()
