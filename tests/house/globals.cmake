# SPDX-License-Identifier: MIT
#
# cmake -DNM=program "-DFILES=object or archive;..." -P globals.cmake
#
# Fails unless each global that the files define is defined once. The linker takes a member of an archive for a name that is
# still missing: a second definition, in another archive or in the program itself, silently takes the place of the first,
# and the library then calls a function or reads a table that is not its own. Weak symbols, which C++ makes of templates, are
# meant to be there many times.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${NM}" -A --defined-only --extern-only --format=posix ${FILES} RESULT_VARIABLE result
                OUTPUT_VARIABLE text ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${NM}: ${result}\n${errors}")
endif()
string(REGEX REPLACE "\\[([^]\n]*)\\]" "(\\1)" text "${text}") # archive(member): brackets would join a list's items
string(REGEX MATCHALL "[^\n]+: [^ \n]+ [ABCDGRST] " lines "${text}")
set(clashes "")
foreach(line IN LISTS lines)
    string(REGEX MATCH "^(.+): ([^ ]+) [A-Z] $" line "${line}")
    set(file "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    if(DEFINED "place_of_${name}")
        string(APPEND clashes "  ${name}: ${place_of_${name}} and ${file}\n")
    endif()
    set("place_of_${name}" "${file}")
endforeach()
list(LENGTH lines count)
if(count EQUAL 0 OR clashes)
    message(FATAL_ERROR "Of ${count} globals, these are defined twice:\n${clashes}")
endif()
message(NOTICE "${count} globals, each defined once")
