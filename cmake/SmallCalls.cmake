# Flags for where small calls spend their time: outside the kernels.

include(CheckCXXCompilerFlag)

# g++ zeroes structs of a few hundred bytes with `rep stos`, which takes longer to start than all of its writing; a
# call of an operator zeroes several (descriptor, plan). This makes it write them with plain stores.
set(dmlcpu_zeroing -mmemset-strategy=vector_loop:1024:noalign,libcall:-1:noalign)
check_cxx_compiler_flag(${dmlcpu_zeroing} DMLCPU_HAS_MEMSET_STRATEGY)

# A small call runs dozens of functions once each. Where they begin in a cache line would else depend on all code
# before them, so that a change of one operator could make another slower.
check_cxx_compiler_flag(-falign-functions=64 DMLCPU_HAS_ALIGN_FUNCTIONS)

function(dmlcpu_set_small_calls target)
  if(DMLCPU_HAS_MEMSET_STRATEGY)
    target_compile_options(${target} PRIVATE ${dmlcpu_zeroing})
  endif()
  if(DMLCPU_HAS_ALIGN_FUNCTIONS)
    target_compile_options(${target} PRIVATE -falign-functions=64)
  endif()
endfunction()
