# SPDX-License-Identifier: MIT
#
# cmake -DLIST=file [-DMORE=test.driver] -P drivers.cmake, in the repository's root
#
# A relative of another driver, which is the same code in another width or version, runs what only its kernels can break: cases of
# `weft verify`, models that run everywhere, and tests whose source says `every device` (tests/cmake/programs.cmake). LIST names every
# registered test, one on each line; MORE is one more.
cmake_minimum_required(VERSION 3.25)
file(STRINGS "${LIST}" tests)
list(APPEND tests ${MORE})
set(relatives 0)
set(without_reason "")
foreach(test IN LISTS tests)
    if(NOT test MATCHES "^(.+)\\.(lavapipe-4|lavapipe-16|mesa-backports)$")
        continue()
    endif()
    set(name "${CMAKE_MATCH_1}")
    math(EXPR relatives "${relatives} + 1")
    if(name MATCHES "^(example_mixer\\.)?verify|^eval\\.(langid|text-fmmformer)$")
        continue()
    endif()
    string(REGEX REPLACE "^([a-z]+)\\.(.*)$" "tests/\\1/test_\\2.c" source "${name}")
    set(head "")
    if(EXISTS "${CMAKE_SOURCE_DIR}/${source}")
        file(STRINGS "${CMAKE_SOURCE_DIR}/${source}" head LIMIT_COUNT 5)
    endif()
    if(NOT head MATCHES "every device \\*/")
        list(APPEND without_reason "${test}")
    endif()
endforeach()
if(without_reason)
    list(JOIN without_reason ", " without_reason)
    message(FATAL_ERROR "On a relative of another driver without a reason: ${without_reason}")
endif()
if(MORE)
    message(FATAL_ERROR "${MORE} is not noticed")
endif()
message(STATUS "${relatives} tests run on drivers that are relatives of others")
