# SPDX-License-Identifier: MIT
#
# cmake [-DWITHOUT=fuzzer] -P fuzzers.cmake, in the repository's root
#
# Fails unless the table of SECURITY.md has each fuzzer of tests/fuzz, and no other. WITHOUT names one whose row is not seen.
cmake_minimum_required(VERSION 3.25)
file(GLOB sources tests/fuzz/fuzz_*.c)
set(fuzzers "")
foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^fuzz_" "" name "${stem}")
    list(APPEND fuzzers "${name}")
endforeach()

file(STRINGS SECURITY.md rows REGEX "^ +\\| `")
set(listed "")
foreach(row IN LISTS rows)
    string(REGEX REPLACE "^ +\\| ([^|]*) \\|.*" "\\1" names "${row}")
    string(REGEX MATCHALL "[a-z0-9_]+" names "${names}")
    list(APPEND listed ${names})
endforeach()
list(REMOVE_ITEM listed "${WITHOUT}")

set(missing ${fuzzers})
list(REMOVE_ITEM missing ${listed})
set(unknown ${listed})
list(REMOVE_ITEM unknown ${fuzzers})
list(LENGTH fuzzers count)
if(count LESS 15 OR missing OR unknown)
    message(FATAL_ERROR "Of ${count} fuzzers the table of SECURITY.md lacks: ${missing}; it has others: ${unknown}")
endif()
message(NOTICE "${count} fuzzers are in the table of SECURITY.md")
