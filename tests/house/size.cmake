# SPDX-License-Identifier: MIT
#
# cmake -DLIST=tests/house/size.txt [-DTAKE=LINES] -P size.cmake, in the repository's root
#
# Fails where a room has more lines of code than LIST grants it, and where code lies in no room. A row is "FOLDER LINES"; a file belongs to
# the first row that its path begins with. What a change needs is granted in the same commit, which says why. TAKE is what is taken from each
# grant, to see that it is noticed.
cmake_minimum_required(VERSION 3.25)

# Generated from the C headers.
set(generated api/include/weft/weft.hpp api/include/weft/vulkan.hpp)

function(count_lines variable file)
    file(READ "${file}" text)
    string(REGEX REPLACE "[^\n]+" "" text "${text}")
    string(LENGTH "${text}" count)
    set(${variable} ${count} PARENT_SCOPE)
endfunction()

file(STRINGS "${LIST}" rows REGEX "^[a-z]")
set(files "")
foreach(folder api bench cmake packaging runtime shaders tests)
    foreach(ending c h cpp hpp comp glsl py sh cmake js)
        file(GLOB_RECURSE found RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}/*.${ending}")
        list(APPEND files ${found})
    endforeach()
endforeach()
list(REMOVE_ITEM files ${generated})
list(FILTER files EXCLUDE REGEX "/__pycache__/|/build/")

foreach(file IN LISTS files)
    set(home "")
    foreach(row IN LISTS rows)
        string(REGEX REPLACE " .*" "" room "${row}")
        string(FIND "${file}" "${room}" at)
        if(at EQUAL 0)
            set(home "${room}")
            break()
        endif()
    endforeach()
    if(home STREQUAL "")
        message(SEND_ERROR "${file} is in no room of ${LIST}")
    else()
        count_lines(lines "${file}")
        math(EXPR total_${home} "0${total_${home}} + ${lines}")
    endif()
endforeach()

foreach(row IN LISTS rows)
    if(NOT row MATCHES "^([^ ]+) +([0-9]+)$")
        message(FATAL_ERROR "${LIST}: expected FOLDER LINES, found '${row}'")
    endif()
    set(room "${CMAKE_MATCH_1}")
    math(EXPR granted "${CMAKE_MATCH_2} - 0${TAKE}")
    math(EXPR total "0${total_${room}}")
    if(total GREATER granted)
        message(SEND_ERROR "${room} has ${total} lines, and ${LIST} grants ${granted}")
    else()
        message(NOTICE "${room} ${total} of ${granted}")
    endif()
endforeach()
