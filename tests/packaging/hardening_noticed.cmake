# SPDX-License-Identifier: MIT
#
# cmake -DREADELF=program -DCC=program -DWORK=folder -P hardening_noticed.cmake
#
# Each thing that hardening.cmake looks for is missed in a program that lacks it.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(WRITE "${WORK}/soft.c" "#include <stdio.h>\nint main(void) { char text[64]; return fgets(text, 64, stdin) ? puts(text) + puts(__FILE__) : 1; }\n")
execute_process(COMMAND "${CC}" -O1 -no-pie -fno-pie -fno-stack-protector -U_FORTIFY_SOURCE -Wl,-z,norelro,-z,lazy,-z,execstack
                        -Wl,-rpath,/somewhere/else "${WORK}/soft.c" -o "${WORK}/soft" COMMAND_ERROR_IS_FATAL ANY ERROR_QUIET)
execute_process(COMMAND "${CMAKE_COMMAND}" "-DREADELF=${READELF}" "-DFILES=${WORK}/soft" "-DTREES=${WORK}"
                        -P "${CMAKE_CURRENT_LIST_DIR}/hardening.cmake"
                RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
foreach(fault "is not position-independent" "has no PT_GNU_RELRO" "binds functions at their first call"
        "has a stack that may be executed" "has no stack protection" "has no checked calls of the C library"
        "looks for libraries in /somewhere/else" "mentions [^\n]*soft")
    if(result EQUAL 0 OR NOT text MATCHES "${fault}")
        message(FATAL_ERROR "that a program ${fault} was not noticed: ${text}")
    endif()
endforeach()
