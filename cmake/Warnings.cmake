# dmlcpu_set_warnings(<target>): the project's warnings; errors with DMLCPU_WERROR.
#
# Calls run in threads with small stacks, so what is large is scratch memory. Sanitizers make frames larger.
function(dmlcpu_set_warnings target)
  if(NOT DMLCPU_SANITIZE)
    target_compile_options(${target} PRIVATE -Wframe-larger-than=8192)
  endif()
  target_compile_options(
    ${target}
    PRIVATE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wno-sign-conversion
            -Wnon-virtual-dtor
            -Wold-style-cast
            $<$<BOOL:${DMLCPU_WERROR}>:-Werror>)
endfunction()
