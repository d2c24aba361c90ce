# g++ zeroes structs of a few hundred bytes with `rep stos`, which takes longer to start than all of its writing; a
# call of an operator zeroes several (descriptor, plan). This makes it write them with plain stores.

include(CheckCXXCompilerFlag)
set(dmlcpu_zeroing -mmemset-strategy=vector_loop:1024:noalign,libcall:-1:noalign)
check_cxx_compiler_flag(${dmlcpu_zeroing} DMLCPU_HAS_MEMSET_STRATEGY)

# dmlcpu_set_zeroing(<target>): where small calls spend their time outside the kernels.
function(dmlcpu_set_zeroing target)
  if(DMLCPU_HAS_MEMSET_STRATEGY)
    target_compile_options(${target} PRIVATE ${dmlcpu_zeroing})
  endif()
endfunction()
