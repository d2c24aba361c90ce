# dmlcpu_set_warnings(<target>): the project's warnings; errors with DMLCPU_WERROR.
#
# Calls run in threads with small stacks, so what is large is scratch memory. Sanitizers make frames larger.
function(dmlcpu_set_warnings target)
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
            $<$<NOT:$<BOOL:${DMLCPU_SANITIZE}>>:-Wframe-larger-than=8192>
            $<$<BOOL:${DMLCPU_WERROR}>:-Werror>)
endfunction()
