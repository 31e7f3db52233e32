# SPDX-License-Identifier: MIT
#
# cmake -DREADELF=program "-DFILES=program or shared object;..." "-DTREES=folder;..." -P hardening.cmake
#
# Fails unless each file is position-independent, has relocations that are read-only before its first instruction runs, a stack
# that is no code, calls that check the stack and the sizes of buffers, no folder to look for libraries in but beside itself, and
# no path of the machine that built it: the folders TREES. cmake/WeftHardening.cmake asks for all that.
cmake_minimum_required(VERSION 3.25)

set(faults "")

# fault(<what>): notes what is wrong with the file.
function(fault what)
    set(faults "${faults}  ${file}: ${what}\n" PARENT_SCOPE)
endfunction()

# Each pattern of what readelf says is wanted, or the fault is there.
set(wanted
    "Type: +DYN " "is not position-independent"
    "GNU_RELRO " "has no PT_GNU_RELRO"
    "BIND_NOW|FLAGS_1[^\n]* NOW" "binds functions at their first call"
    "GNU_STACK [^\n]* RW +0x" "has a stack that may be executed"
    " __stack_chk_(fail|guard)" "has no stack protection"
    " __[a-z]+_chk[@ \n]" "has no checked calls of the C library")

foreach(file IN LISTS FILES)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C "${READELF}" -W -h -l -d --syms "${file}" OUTPUT_VARIABLE text
                    COMMAND_ERROR_IS_FATAL ANY)
    set(rest "${wanted}")
    while(rest)
        list(POP_FRONT rest pattern what)
        if(NOT text MATCHES "${pattern}")
            fault("${what}")
        endif()
    endwhile()
    if(text MATCHES "TEXTREL")
        fault("has relocations in code")
    endif()
    if(text MATCHES "\\((RPATH|RUNPATH)\\)[^\n]*: \\[([^\n]*)\\]\n")
        set(folders "${CMAKE_MATCH_2}")
        if(NOT folders MATCHES "^\\$ORIGIN(/[^:]*)?$")
            fault("looks for libraries in ${folders}")
        endif()
    endif()
    foreach(tree IN LISTS TREES)
        string(REGEX REPLACE "([][.*+?^$()|\\])" "\\\\\\1" pattern "${tree}")
        file(STRINGS "${file}" lines REGEX "${pattern}/" LIMIT_COUNT 3)
        if(lines)
            fault("mentions ${lines}")
        endif()
    endforeach()
endforeach()
if(NOT FILES OR faults)
    message(FATAL_ERROR "Not as cmake/WeftHardening.cmake has it:\n${faults}")
endif()
message(NOTICE "hardened: ${FILES}")
