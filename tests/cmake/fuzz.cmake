# SPDX-License-Identifier: MIT
#
# Each tests/fuzz/fuzz_NAME.c is a libFuzzer entry, with inputs in tests/fuzz/corpus/NAME. Every build runs each entry once
# on these: test fuzz.NAME. With -DWEFT_BUILD_FUZZERS=ON, which the preset asan sets and which needs clang, that test is
# libFuzzer itself for WEFT_FUZZ_SECONDS, and fuzz.short.NAME the same for two. Both start from there and from what earlier
# runs found, and add what they find to build/asan/corpus/NAME. What makes a fuzzer fail is left in build/asan/found.

option(WEFT_BUILD_FUZZERS "Let libFuzzer run the entries of tests/fuzz (clang only)" OFF)
set(WEFT_FUZZ_SECONDS 20 CACHE STRING "How long each fuzzer runs in ./dev test all")
if(WEFT_BUILD_FUZZERS AND
   (NOT CMAKE_C_COMPILER_ID MATCHES "Clang" OR NOT WEFT_SANITIZE MATCHES "fuzzer-no-link"))
    message(FATAL_ERROR "WEFT_BUILD_FUZZERS needs clang and WEFT_SANITIZE with fuzzer-no-link, "
            "so that the library is instrumented too: cmake --preset asan.")
endif()

add_library(weft_fuzz_support OBJECT "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz.c")
weft_compile_options(weft_fuzz_support)
target_link_libraries(weft_fuzz_support PRIVATE weft_requirements)
add_custom_target(weft-fuzzers)
add_dependencies(weft-quick weft-fuzzers)

# What an entry needs of the command, which the library does not have.
set(weft_fuzz_report_sources bench/file.c bench/label.c bench/compare.c bench/noise.c bench/csv.c api/cli/output.c api/cli/console_posix.c)
set(weft_fuzz_certificate_sources bench/index.c bench/file.c bench/label.c bench/machines.c bench/ratios.c bench/side_csv.c bench/csv.c api/cli/certify/consistent.c api/cli/certify/findings.c api/cli/eval/names.c
    api/cli/certify/form.c api/cli/output.c api/cli/console_posix.c)

set(weft_fuzz_resume_sources api/cli/partial.c api/cli/rows.c api/cli/logits.c api/cli/host.c api/cli/stop.c api/cli/stop_posix.c api/cli/trial.c
    api/cli/trial_posix.c api/cli/output.c api/cli/console_posix.c)

set(weft_fuzz_program_sources tests/fuzz/program_grammar.c)
set(weft_fuzz_images_sources tests/fuzz/program_grammar.c tests/fuzz/field_grammar.c)
set(weft_fuzz_sentences_sources tests/fuzz/program_grammar.c tests/fuzz/field_grammar.c)
set(weft_fuzz_sound_sources tests/fuzz/program_grammar.c)
set(weft_fuzz_speech_sources tests/fuzz/program_grammar.c tests/fuzz/field_grammar.c)
set(weft_fuzz_state_sources tests/fuzz/program_grammar.c)
set(weft_fuzz_static_sources tests/fuzz/program_grammar.c)
set(weft_fuzz_table_sources tests/fuzz/program_grammar.c)

# A device that is chosen by its name is looked for among all: Vulkan drivers of the machine would be loaded, and what they leak be
# found (lavapipe of Debian 12, 128 bytes on one machine and none on others). No fuzzer runs on them.
set(weft_no_drivers "VK_DRIVER_FILES=${CMAKE_CURRENT_BINARY_DIR}/no-driver.json"
    "VK_ICD_FILENAMES=${CMAKE_CURRENT_BINARY_DIR}/no-driver.json")

# weft_add_fuzz_test(<test> <label> <seconds> <entry> <corpus>)
function(weft_add_fuzz_test test label seconds name corpus)
    set(kept "${PROJECT_BINARY_DIR}/corpus/${name}")
    file(MAKE_DIRECTORY "${kept}" "${PROJECT_BINARY_DIR}/found")
    weft_add_host_test(${test} LABELS fuzz ${label} COMMAND weft-fuzz-${name}
        -max_total_time=${seconds} -timeout=300 -print_final_stats=1
        "-artifact_prefix=${PROJECT_BINARY_DIR}/found/${name}-" "${kept}" "${corpus}")
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${weft_no_drivers})
endfunction()

file(GLOB weft_fuzzers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_*.c")
if(NOT WEFT_HAVE_LLVM)
    list(FILTER weft_fuzzers EXCLUDE REGEX "/fuzz_spirv_compile\\.c$")
endif()
foreach(source IN LISTS weft_fuzzers)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^fuzz_" "" name "${stem}")
    set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}")
    set(target "weft-fuzz-${name}")
    add_executable(${target} "${source}" $<TARGET_OBJECTS:weft_fuzz_support>)
    list(TRANSFORM weft_fuzz_${name}_sources PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE more)
    target_sources(${target} PRIVATE ${more})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api/cli")
    weft_compile_options(${target})
    target_link_libraries(${target} PRIVATE weft_internal m)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX
        OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/fuzz")
    add_dependencies(weft-fuzzers ${target})
    if(WEFT_BUILD_FUZZERS)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        target_compile_definitions(${target} PRIVATE WEFT_LIBFUZZER=1) # its functions are there to be called
        weft_add_fuzz_test(fuzz.${name} long ${WEFT_FUZZ_SECONDS} ${name} "${corpus}")
        weft_add_fuzz_test(fuzz.short.${name} short 2 ${name} "${corpus}")
    else()
        target_sources(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/replay.c")
        weft_add_host_test(fuzz.${name} LABELS fuzz COMMAND ${target} "${corpus}")
        set_property(TEST fuzz.${name} APPEND PROPERTY ENVIRONMENT ${weft_no_drivers})
    endif()
endforeach()
