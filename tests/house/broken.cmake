# SPDX-License-Identifier: MIT
#
# cmake -DPROGRAM=layers -DCOPY=folder -P broken.cmake, in the repository's root
#
# Appends one include after another to a file of a copy of the sources, and fails unless the program then fails and names
# what is wrong.
cmake_minimum_required(VERSION 3.25)

# expect(<exit code> <text> [<command>]): what PROGRAM makes of the copy, and of the symbols that the command prints.
function(expect code expected)
    execute_process(COMMAND "${PROGRAM}" "${COPY}" ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text)
    string(FIND "${text}" "${expected}" found)
    if(NOT result EQUAL code OR found EQUAL -1)
        message(FATAL_ERROR "Expected ${code} and '${expected}', got ${result}:\n${text}")
    endif()
    message(NOTICE "${expected}")
endfunction()

# expect_broken(<file> <name in an #include> <text>)
function(expect_broken path name expected)
    set(file "${COPY}/${path}")
    set(text "")
    if(EXISTS "${file}")
        file(READ "${file}" text)
    endif()
    file(WRITE "${file}" "${text}\n#include ${name}\n")
    expect(1 "${expected}")
    file(WRITE "${file}" "${text}")
endfunction()

file(REMOVE_RECURSE "${COPY}")
foreach(folder runtime api/include api/cli api/verify bench tests/support)
    cmake_path(GET folder PARENT_PATH parent)
    file(COPY "${folder}" DESTINATION "${COPY}/${parent}"
         FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.cpp")
endforeach()
expect(0 ": 0 problems")

expect_broken(runtime/device/memory.c "\"shader/pipeline.h\""
    "runtime/device/memory.c includes runtime/shader/pipeline.h, which is above it")
expect_broken(runtime/spirv/index.c "\"device/device.h\""
    "runtime/spirv/index.c includes runtime/device/device.h, which is above it")
expect_broken(runtime/spirv/ir/ir.c "\"native/kernel.h\""
    "runtime/spirv/ir/ir.c includes runtime/native/kernel.h, which is above it")
expect_broken(runtime/softvk/stream.c "\"device/device.h\""
    "runtime/softvk/stream.c includes runtime/device/device.h, which is above it")
expect_broken(runtime/softvk/stream.c "\"processor/processor.h\""
    "runtime/softvk/stream.c includes runtime/processor/processor.h, which is above it")
expect_broken(runtime/features/sample.c "\"graph/op.h\""
    "runtime/features/sample.c includes runtime/graph/op.h, which is above it")
expect_broken(runtime/device/memory.c "<weft/graph.h>"
    "runtime/device/memory.c includes api/include/weft/graph.h, which is above it")
expect_broken(api/include/weft/buffer.h "<weft/model.h>"
    "api/include/weft/buffer.h includes api/include/weft/model.h, which is above it")
expect_broken(api/include/weft/model.h "\"core/host.h\""
    "api/include/weft/model.h includes runtime/core/host.h, which is not public")
expect_broken(api/cli/main.c "\"plan/plan.h\""
    "api/cli/main.c includes runtime/plan/plan.h, which is hidden in the library")
expect_broken(bench/run.c "\"support/support.h\"" "bench/run.c includes support/support.h, which is a test's")
expect_broken(runtime/core/hash.h "\"core/digest_map.h\""
    "a cycle: runtime/core/hash -> runtime/core/digest_map -> runtime/core/hash")
expect_broken(runtime/core/vendor.h "\"core/system/clock.h\""
    "runtime/core/vendor.h includes runtime/core/system/clock.h, which is above it")
expect_broken(runtime/tokenizer/vocabulary.c "\"tokenizer/json/merges.h\""
    "runtime/tokenizer/vocabulary.c includes runtime/tokenizer/json/merges.h, which is above it")
expect_broken(runtime/model/network/family.c "\"model/program/program.h\""
    "runtime/model/network/family.c includes runtime/model/program/program.h, which is above it")
file(WRITE "${COPY}/runtime/mixers/flt.h" "")
expect_broken(runtime/mixers/ski.c "\"mixers/flt.h\""
    "runtime/mixers/ski.c includes runtime/mixers/flt.h, which belongs to another op's file")
expect_broken(runtime/graph/weight.c "\"device/device.h\""
    "runtime/graph/weight.c includes runtime/device/device.h, but graphs know no device")
expect_broken(runtime/graph/weight.c "\"lower/lowering.h\""
    "runtime/graph/weight.c includes runtime/lower/lowering.h, which is above it")
file(WRITE "${COPY}/symbols" "objects/runtime/lower/open.c.o: weft_new T 0 1\nobjects/runtime/device/setup.c.o: weft_new U\n")
expect(1 "runtime/device/setup.c takes weft_new from runtime/lower/open.c, which is above it"
       "\"${CMAKE_COMMAND}\" -E cat \"${COPY}/symbols\"")
expect_broken(runtime/elsewhere/new.c "\"core/host.h\"" "runtime/elsewhere/new.c is in no layer")
file(REMOVE_RECURSE "${COPY}")
