# SPDX-License-Identifier: MIT
#
# tests/fuzz/fuzz_*.c are libFuzzer entries. They are always compiled, so that they keep up with the
# code; with -DWEFT_BUILD_FUZZERS=ON, which needs clang, each becomes the program tests/fuzz/<name>:
#   CC=clang CXX=clang++ cmake -S . -B build/fuzz -DWEFT_BUILD_FUZZERS=ON
#         "-DWEFT_SANITIZE=fuzzer-no-link,address,undefined"

option(WEFT_BUILD_FUZZERS "Link the fuzzers of tests/fuzz (clang only)" OFF)

file(GLOB weft_fuzzers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_*.c")
if(NOT weft_fuzzers)
    return()
endif()
add_library(weft_fuzz_entries OBJECT ${weft_fuzzers})
weft_compile_options(weft_fuzz_entries)
target_link_libraries(weft_fuzz_entries PRIVATE weft_internal)

if(WEFT_BUILD_FUZZERS)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang" OR NOT WEFT_SANITIZE MATCHES "fuzzer-no-link")
        message(FATAL_ERROR "WEFT_BUILD_FUZZERS needs clang and WEFT_SANITIZE with fuzzer-no-link, "
                "so that the library is instrumented too.")
    endif()
    foreach(source IN LISTS weft_fuzzers)
        cmake_path(GET source STEM name)
        add_executable(weft-${name} "${source}")
        weft_compile_options(weft-${name})
        target_link_libraries(weft-${name} PRIVATE weft_internal)
        target_link_options(weft-${name} PRIVATE -fsanitize=fuzzer)
        set_target_properties(weft-${name} PROPERTIES
            OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/fuzz")
    endforeach()
endif()
