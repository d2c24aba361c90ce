# dmlcpu_set_warnings(<target>): the project's warnings; errors with DMLCPU_WERROR.
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
            $<$<BOOL:${DMLCPU_WERROR}>:-Werror>)
endfunction()
