# Compiles the one portable kernel source once per instruction set.
#
# Flags are spelled out, not -march=x86-64-vN, which g++ 10 does not know. -O3 for every build type: at -O0 the
# kernels would be unusably slow and inline std functions would become weak symbols, of which another instruction set's
# may be kept. Under sanitizers, which triple the compiler's time at -O3, -O1.

set(DMLCPU_KERNEL_SOURCES
    cpp/src/kernels/arg_kernels.cpp cpp/src/kernels/gather_kernels.cpp
    cpp/src/kernels/top_k_kernels.cpp)

# They are what core/processor.cpp detects; the other features of these x86-64 levels are of no use to the kernels.
set(dmlcpu_flags_v2 -mpopcnt -mssse3 -msse4.1 -msse4.2)
set(dmlcpu_flags_v3 ${dmlcpu_flags_v2} -mavx -mavx2 -mbmi -mbmi2 -mfma)
set(dmlcpu_flags_v4 ${dmlcpu_flags_v3} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl
                    -mprefer-vector-width=512)

# Intel's cores of the Skylake family keep no decoded instructions of jumps that cross a 32-byte boundary or end at
# one, so that where a loop happens to lie decides its speed, and a change elsewhere moves it. Assemblers can pad such
# jumps; clang's is part of it.
include(CheckCXXCompilerFlag)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(dmlcpu_branches -Wa,-mbranches-within-32B-boundaries)
else()
  set(dmlcpu_branches -mbranches-within-32B-boundaries)
endif()
check_cxx_compiler_flag(${dmlcpu_branches} DMLCPU_HAS_BRANCH_BOUNDARIES)

# On other processors too it matters where a loop lies: one that straddles a cache line of code may be slower. All
# begin at one, for a twentieth of the library's size.
check_cxx_compiler_flag(-falign-loops=64 DMLCPU_HAS_ALIGN_LOOPS)

# g++ for Windows aligns the stack to 16 bytes, whatever vectors it keeps there (its bug 54412). Only instructions that
# need aligned addresses notice, which the assembler replaces.
if(MINGW AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(dmlcpu_unaligned -Wa,-muse-unaligned-vector-move)
endif()

function(dmlcpu_add_isa isa)
  set(target dmlcpu_kernels_${isa})
  add_library(${target} OBJECT ${DMLCPU_KERNEL_SOURCES})
  target_include_directories(${target} PRIVATE cpp/include cpp/src)
  target_compile_definitions(${target} PRIVATE DMLCPU_TARGET=${isa})
  if(DMLCPU_SANITIZE)
    set(optimisation -O1)
  else()
    set(optimisation -O3)
  endif()
  target_compile_options(${target} PRIVATE ${optimisation} -fno-lto ${dmlcpu_unaligned} ${ARGN})
  if(DMLCPU_HAS_BRANCH_BOUNDARIES)
    target_compile_options(${target} PRIVATE ${dmlcpu_branches})
  endif()
  if(DMLCPU_HAS_ALIGN_LOOPS)
    target_compile_options(${target} PRIVATE -falign-loops=64)
  endif()
  dmlcpu_set_warnings(${target})
endfunction()

# What the compiler makes code for, which is not always what it runs on.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#ifndef __x86_64__\n#error\n#endif\nint main() {}" DMLCPU_TARGETS_X86_64)
list(LENGTH CMAKE_OSX_ARCHITECTURES dmlcpu_architectures)
if(dmlcpu_architectures GREATER 1)
  message(FATAL_ERROR "CMAKE_OSX_ARCHITECTURES: must be one, as each has kernels of its own, got "
                      "\"${CMAKE_OSX_ARCHITECTURES}\"; lipo joins the libraries of two builds")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
  message(FATAL_ERROR "dmlcpu: needs the vector types of g++ or clang++, which cl.exe lacks; on Windows set CXX=clang++")
endif()
# Items of top-k are integers of 128 bits, which compilers for 32 bits lack.
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "dmlcpu: needs a processor and a compiler of 64 bits")
endif()

# Cross builds without an emulator have the C++ tests alone, which find the same.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  try_run(dmlcpu_wrong_vectors dmlcpu_compiled SOURCES ${CMAKE_CURRENT_LIST_DIR}/check_vectors.cpp
          COMPILE_DEFINITIONS -O1)
  if(NOT dmlcpu_wrong_vectors EQUAL 0)
    message(FATAL_ERROR "dmlcpu: ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} does not compare vectors as "
                        "kernels need it (cmake/check_vectors.cpp)")
  endif()
endif()

# What to compile, smallest first. A build for this machine alone takes a third of the time with `native`.
set(DMLCPU_ISAS all CACHE STRING
    "Instruction sets to compile kernels for: all, native (the newest that this machine has), or some of them")
if(NOT DMLCPU_TARGETS_X86_64)
  set(dmlcpu_isas generic)
elseif(DMLCPU_ISAS STREQUAL "all")
  set(dmlcpu_isas x86_64_v2 x86_64_v3 x86_64_v4)
elseif(DMLCPU_ISAS STREQUAL "native")
  try_run(
    dmlcpu_ran dmlcpu_compiled
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/newest_isa.cpp ${PROJECT_SOURCE_DIR}/cpp/src/core/processor.cpp
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/cpp/src
    RUN_OUTPUT_STDOUT_VARIABLE dmlcpu_isas)
  if(NOT dmlcpu_ran EQUAL 0)
    message(FATAL_ERROR "DMLCPU_ISAS: native needs a processor with x86-64-v2 or newer")
  endif()
else()
  set(dmlcpu_isas ${DMLCPU_ISAS})
  list(SORT dmlcpu_isas)
  list(REMOVE_DUPLICATES dmlcpu_isas)
  if(NOT dmlcpu_isas MATCHES "^x86_64_v[234](;x86_64_v[234])*$")
    message(
      FATAL_ERROR
        "DMLCPU_ISAS: must be all, native, or some of x86_64_v2, x86_64_v3 and x86_64_v4, got \"${DMLCPU_ISAS}\"")
  endif()
endif()

# One object library for each.
function(dmlcpu_add_instruction_sets)
  set(rows)
  foreach(isa IN LISTS dmlcpu_isas)
    string(REGEX REPLACE "^x86_64_(v[234])$" "\\1" level ${isa})
    dmlcpu_add_isa(${isa} ${dmlcpu_flags_${level}})
    string(REPLACE "_" "-" name ${isa})
    string(APPEND rows "DMLCPU_ISA(\"${name}\", ${isa})\n")
  endforeach()
  # Their names and namespaces, for kernels/dispatch.cpp.
  file(CONFIGURE OUTPUT isas.inc CONTENT "${rows}" @ONLY)
endfunction()

# Makes all of them part of a library.
function(dmlcpu_link_instruction_sets library)
  foreach(isa IN LISTS dmlcpu_isas)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:dmlcpu_kernels_${isa}>)
  endforeach()
  target_include_directories(${library} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
