# SPDX-License-Identifier: MIT
#
# Every public header, alone, as C11 (those of C) and as C++17 with pedantic warnings as errors. Part of the
# build: a header that is not self-contained does not get as far as a test.

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
