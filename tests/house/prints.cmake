# SPDX-License-Identifier: MIT
#
# cmake -DROOT=folder [-DSAMPLE=file] -P prints.cmake
#
# Fails if a file of the command prints by the C library instead of api/cli/output.c, whose functions make harmless what
# files of others bring along. SAMPLE is written with such a call and looked at as well, to show that this notices.
cmake_minimum_required(VERSION 3.25)

file(GLOB files "${ROOT}/api/cli/*.c" "${ROOT}/api/cli/eval/*.c" "${ROOT}/bench/*.c" "${ROOT}/bench/suites/*.c")
list(FILTER files EXCLUDE REGEX "/api/cli/output\\.c$")
if(SAMPLE)
    file(WRITE "${SAMPLE}" "void show(const char *label) { printf(\"%s\", label); }\n")
    list(APPEND files "${SAMPLE}")
endif()
set(found "")
foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REGEX MATCH "[^A-Za-z0-9_](v?f?printf|f?puts|f?putc|putchar|fwrite|json_dumpf|json_dumpfd) *\\(" call "${text}")
    if(call)
        string(APPEND found "${file} calls ${CMAKE_MATCH_1}\n")
    endif()
endforeach()
list(LENGTH files count)
if(count LESS 50 OR found)
    message(FATAL_ERROR "Of ${count} files these print past api/cli/output.c:\n${found}")
endif()
message(NOTICE "${count} files that print by api/cli/output.c alone")
