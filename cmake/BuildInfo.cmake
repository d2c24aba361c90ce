# dmlcpu_write_build_info(<file>): C++ statements that put how this build was made into `info`.

# dmlcpu_clean_flags(<flags> <variable>): flags without those that name a file or a folder: nobody else has the folders
# of the machine that built a wheel.
function(dmlcpu_clean_flags flags variable)
  separate_arguments(flags NATIVE_COMMAND "${flags}")
  set(kept)
  set(skip FALSE)
  foreach(flag IN LISTS flags)
    if(skip)
      set(skip FALSE)
    elseif(flag MATCHES "^-(I|L|B|F|isystem|iquote|idirafter|iprefix|isysroot|include|imacros|-sysroot|specs)$")
      set(skip TRUE) # and what it names
    elseif(NOT flag MATCHES "[/\\\\]")
      list(APPEND kept ${flag})
    endif()
  endforeach()
  list(JOIN kept " " kept)
  set(${variable} "${kept}" PARENT_SCOPE)
endfunction()

function(dmlcpu_write_build_info file)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(options DIRECTORY ${PROJECT_SOURCE_DIR} COMPILE_OPTIONS)
  list(JOIN options " " options)
  dmlcpu_clean_flags("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options} ${OpenMP_CXX_FLAGS}" flags)
  set(text)
  foreach(row IN ITEMS
          "compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          "build type=${CMAKE_BUILD_TYPE}"
          "flags=${flags}"
          "system=${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}"
          "cmake=${CMAKE_VERSION}"
          "pybind11=${pybind11_VERSION}")
    string(REGEX MATCH "^([^=]*)=(.*)$" matched "${row}")
    string(APPEND text "info[\"${CMAKE_MATCH_1}\"] = R\"(${CMAKE_MATCH_2})\";\n")
  endforeach()
  foreach(isa IN LISTS dmlcpu_isas)
    get_target_property(isa_flags dmlcpu_kernels_${isa} COMPILE_OPTIONS)
    list(FILTER isa_flags INCLUDE REGEX "^-[fmO]")
    list(JOIN isa_flags " " isa_flags)
    dmlcpu_clean_flags("${isa_flags}" isa_flags)
    string(REPLACE "_" "-" name ${isa})
    string(APPEND text "info[\"flags of ${name}\"] = R\"(${isa_flags})\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()
