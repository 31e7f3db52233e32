# SPDX-License-Identifier: MIT
#
# cmake -DPAGE=file.md -P page.cmake, in the repository's root
#
# Fails unless every file that the page links to is there, and every block of C, C++ or GLSL that it shows is,
# to the letter, in one of these files.
cmake_minimum_required(VERSION 3.25)

cmake_path(ABSOLUTE_PATH PAGE OUTPUT_VARIABLE folder)
cmake_path(GET folder PARENT_PATH folder)
file(READ "${PAGE}" page)
set(failed NO)
set(texts "")

# Links, one after another. The texts of the files follow each other in `texts`.
set(rest "${page}")
set(links 0)
while(rest MATCHES "\\]\\(([^)#:]+)\\)")
    set(target "${CMAKE_MATCH_1}")
    string(FIND "${rest}" "](${target})" at)
    string(LENGTH "](${target})" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    math(EXPR links "${links} + 1")
    if(NOT EXISTS "${folder}/${target}")
        message(SEND_ERROR "${PAGE} links to ${target}, which is not there.")
        set(failed YES)
    elseif(NOT IS_DIRECTORY "${folder}/${target}")
        file(READ "${folder}/${target}" text)
        string(APPEND texts "${text}")
    endif()
endwhile()

# Blocks between ```c, ```cpp or ```glsl and ```.
set(rest "${page}")
set(blocks 0)
while(rest MATCHES "(\n```(c|cpp|glsl)\n)")
    set(fence "${CMAKE_MATCH_1}")
    string(FIND "${rest}" "${fence}" at)
    string(LENGTH "${fence}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\n```" end)
    string(SUBSTRING "${rest}" 0 ${end} block)
    math(EXPR blocks "${blocks} + 1")
    string(FIND "${texts}" "${block}\n" found)
    if(found EQUAL -1)
        message(SEND_ERROR "${PAGE} shows what is in none of the files that it links to:\n${block}")
        set(failed YES)
    endif()
endwhile()

if(links EQUAL 0 OR blocks EQUAL 0)
    message(FATAL_ERROR "${PAGE} has ${links} links and ${blocks} blocks of code: nothing to check.")
endif()
if(NOT failed)
    message(STATUS "${PAGE}: ${links} links and ${blocks} blocks of code are as the files are")
endif()
