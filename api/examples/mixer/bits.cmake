# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=moving_average_cases -DFOLDER=folder -P bits.cmake
#
# Runs the cases, with a folder of their own in FOLDER, and compares the SHA-256 of each one's output with bits.json.
cmake_minimum_required(VERSION 3.25)
string(RANDOM LENGTH 12 run) # several devices may be tested at a time
string(APPEND FOLDER "/${run}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND "${PROGRAM}" "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
file(READ "${CMAKE_CURRENT_LIST_DIR}/bits.json" bits)
string(JSON count LENGTH "${bits}")
file(GLOB outputs "${FOLDER}/*")
list(LENGTH outputs written)
if(NOT count EQUAL written)
    message(SEND_ERROR "bits.json has ${count} cases, and ${written} were run")
endif()
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
    string(JSON name MEMBER "${bits}" ${index})
    string(JSON expected GET "${bits}" "${name}")
    string(REGEX REPLACE "^moving_average/" "" file "${name}")
    string(REPLACE "/" "_" file "${file}")
    file(SHA256 "${FOLDER}/${file}" found)
    if(NOT found STREQUAL expected)
        message(SEND_ERROR "${name}: ${found}, and not the bits of bits.json")
    endif()
endforeach()
file(REMOVE_RECURSE "${FOLDER}")
