# SPDX-License-Identifier: MIT
#
# cmake [-DWITHOUT=weft_function] -P entries.cmake, in the repository's root
#
# Fails unless every public function that gives a weft_status or nothing begins with WEFT_ENTER (core/math/float_state.h): then
# nothing that the library computes depends on the float state of the program's thread. What gives anything else is a
# getter that computes nothing, or is called from within such a function. WITHOUT names one whose WEFT_ENTER is not seen.
cmake_minimum_required(VERSION 3.25)

set(result "(weft_status|void)")
file(GLOB_RECURSE headers api/include/weft/*.h)
set(names "")
foreach(file IN LISTS headers)
    file(READ "${file}" text)
    string(REGEX MATCHALL "\nWEFT_API[ \n]+${result}[ \n]+weft_[a-z0-9_]+\\(" found "${text}")
    list(TRANSFORM found REPLACE ".*(weft_[a-z0-9_]+)\\($" "\\1")
    list(APPEND names ${found})
endforeach()

file(GLOB_RECURSE sources runtime/*.c)
set(entered "")
foreach(file IN LISTS sources)
    file(READ "${file}" text)
    string(REGEX MATCHALL "\n${result} weft_[a-z0-9_]+\\([^{};]*\\) {\n    WEFT_ENTER" found "${text}")
    list(TRANSFORM found REPLACE "^[^(]* (weft_[a-z0-9_]+)\\(.*" "\\1")
    list(APPEND entered ${found})
endforeach()
list(REMOVE_ITEM entered "${WITHOUT}")

list(LENGTH names count)
list(REMOVE_ITEM names ${entered})
if(count LESS 150 OR names)
    list(JOIN names "\n  " lines)
    message(FATAL_ERROR "Of ${count} public functions, these do not begin with WEFT_ENTER:\n  ${lines}")
endif()
message(NOTICE "${count} public functions begin with WEFT_ENTER")
