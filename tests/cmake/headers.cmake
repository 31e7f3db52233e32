# SPDX-License-Identifier: MIT
#
# Every public header, alone, as C11 (those of C) and as C++17 with pedantic warnings as errors. Part of the
# build: a header that is not self-contained does not get as far as a test. Then all of them behind the macros of other
# libraries' headers (tests/headers/hostile.h).

file(GLOB_RECURSE weft_public_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/api/include"
     "${PROJECT_SOURCE_DIR}/api/include/weft/*.h" "${PROJECT_SOURCE_DIR}/api/include/weft/*.hpp")
set(weft_header_units_c "")
set(weft_header_units_cxx "")
foreach(header IN LISTS weft_public_headers)
    string(MAKE_C_IDENTIFIER "${header}" stem)
    foreach(language c cxx)
        if(language STREQUAL "c" AND header MATCHES "\\.hpp$")
            continue()
        endif()
        set(unit "${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.${language}")
        file(CONFIGURE OUTPUT "${unit}" @ONLY CONTENT
             "/* Twice: the include guard is checked too. */\n#include <@header@>\n#include <@header@>\nextern int header_@stem@;\nint header_@stem@ = 1;\n")
        list(APPEND weft_header_units_${language} "${unit}")
    endforeach()
endforeach()
set_source_files_properties(${weft_header_units_cxx} PROPERTIES LANGUAGE CXX)

foreach(language c cxx)
    set(target weft_headers_${language})
    add_library(${target} OBJECT ${weft_header_units_${language}})
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror)
    target_link_libraries(${target} PRIVATE weft::weft)
endforeach()

# One source for a language: the libraries' headers that ours include, the macros, and every header of ours. It is compiled in a test,
# so that another test can show on a sample that a word is noticed.
set(weft_hostile_flags -Wall -Wextra -Wpedantic -Werror -fsyntax-only -DCL_TARGET_OPENCL_VERSION=120
    "-I${CMAKE_CURRENT_SOURCE_DIR}/headers" "-I${PROJECT_SOURCE_DIR}/api/include"
    "-I${weft_vulkan_headers}" "-I${WEFT_OPENCL_HEADERS_INCLUDE_DIR}")
foreach(language c cxx)
    set(before "")
    set(after "")
    foreach(header IN LISTS weft_public_headers)
        file(STRINGS "${PROJECT_SOURCE_DIR}/api/include/${header}" includes REGEX "^#include <")
        list(FILTER includes EXCLUDE REGEX "<(weft/|OpenCL/)")
        if(language STREQUAL "cxx" OR NOT header MATCHES "\\.hpp$")
            list(APPEND before ${includes})
            list(APPEND after "#include <${header}>")
        endif()
    endforeach()
    list(REMOVE_DUPLICATES before)
    list(JOIN before "\n" before)
    list(JOIN after "\n" after)
    set(weft_hostile_${language} "${CMAKE_CURRENT_BINARY_DIR}/headers/hostile.${language}")
    file(CONFIGURE OUTPUT "${weft_hostile_${language}}" @ONLY CONTENT
         "@before@\n#include \"hostile.h\"\n@after@\n#ifdef SAMPLE\nstruct sample { int SAMPLE; };\n#endif\n")
endforeach()
if(NOT WEFT_SANITIZE)
    weft_add_host_test(headers.hostile-c LABELS house
        COMMAND "${CMAKE_C_COMPILER}" -std=c11 ${weft_hostile_flags} -x c "${weft_hostile_c}" COMMAND_EXPAND_LISTS)
    weft_add_host_test(headers.hostile-cxx LABELS house
        COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 ${weft_hostile_flags} -x c++ "${weft_hostile_cxx}" COMMAND_EXPAND_LISTS)
    weft_add_host_test(headers.noticed LABELS house
        COMMAND "${CMAKE_C_COMPILER}" -std=c11 ${weft_hostile_flags} -DSAMPLE=slots -x c "${weft_hostile_c}" COMMAND_EXPAND_LISTS)
    set_tests_properties(headers.noticed PROPERTIES PASS_REGULAR_EXPRESSION "hostile\\.c:[0-9:]+ error: declaration does not declare")
endif()
