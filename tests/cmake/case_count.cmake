# SPDX-License-Identifier: MIT
#
# cmake -P case_count.cmake: docs/reproducibility.md has the number of the cases whose bits are in tests/data/bits.
cmake_minimum_required(VERSION 3.25)

file(GLOB files tests/data/bits/*.json)
set(count 0)
foreach(file IN LISTS files)
    file(STRINGS "${file}" lines REGEX "^ *\".+\": \"")
    list(LENGTH lines more)
    math(EXPR count "${count} + ${more}")
endforeach()
string(REGEX REPLACE "(...)$" ",\\1" text "${count}")
file(READ docs/reproducibility.md page)
string(FIND "${page}" "`weft verify` runs ${text} cases" at)
if(at EQUAL -1)
    message(FATAL_ERROR "docs/reproducibility.md: expected '`weft verify` runs ${text} cases', as many as tests/data/bits has")
endif()
