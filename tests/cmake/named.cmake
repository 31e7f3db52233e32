# SPDX-License-Identifier: MIT
#
# Tests that lists name: under its new name a renamed one would run as before, but not where such a list wants it.

# weft_named_tests(<folder> <test>...): configuration fails unless each has its source. There is one at least.
function(weft_named_tests folder)
    if(NOT ARGN)
        message(FATAL_ERROR "A list of tests of tests/${folder} is empty")
    endif()
    foreach(test IN LISTS ARGN)
        set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../${folder}/test_${test}.c")
        if(NOT EXISTS "${source}" AND NOT EXISTS "${source}pp")
            message(FATAL_ERROR "A list names ${folder}.${test}, and there is no tests/${folder}/test_${test}.c")
        endif()
    endforeach()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE) # named.noticed
    weft_named_tests(${NAMED})
endif()
