# SPDX-License-Identifier: MIT
#
# cmake -DSOURCE=tree -DWORK=folder -DSHADERS=compiled -DVKFFT=folder -DCC= -DCXX= -DMAKE= -DLIBRARY=libweft.a -DFLAGS=… [-DWHOLE=ON]
#     -P parent.cmake
#
# A project that adds Weft as a subdirectory and sets -Ofast, unity builds, warnings as errors and folders with headers of our names for
# all of its targets. It compiles those of Weft's files that would be the first to fail; WHOLE compiles all. Then a program, which
# -Ofast lets flush subnormal numbers from its start on, has the bits that it has without, linked to the library of this build.
cmake_minimum_required(VERSION 3.25)
set(parent "${CMAKE_CURRENT_LIST_DIR}/parent")
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${parent}" -B "${WORK}" -G Ninja "-DCMAKE_MAKE_PROGRAM=${MAKE}"
        "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DWEFT_SOURCE=${SOURCE}" "-DVKFFT_INCLUDE_DIR=${VKFFT}"
        "-DWEFT_COMPILED_SHADERS=${SHADERS}" -DCMAKE_BUILD_TYPE=Release
        "-DPARENT_FLAGS=-Ofast -funsafe-math-optimizations -fno-signed-zeros -Wall -Wextra -Werror"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# build_program(<file> <option>...): the consumer, against this build's library.
function(build_program program)
    separate_arguments(flags UNIX_COMMAND "${FLAGS}")
    execute_process(COMMAND "${CC}" -std=c11 ${ARGN} "-I${SOURCE}/api/include" "${parent}/consumer.c" -o "${program}" "${LIBRARY}" ${flags}
        COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(WHOLE)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" --target consumer --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
else()
    set(objects "")
    foreach(file core/math/float_state core/given core/formats/json spirv/edit)
        list(APPEND objects "weft/CMakeFiles/weft_core_objects.dir/runtime/${file}.c.o")
    endforeach()
    execute_process(COMMAND "${MAKE}" -C "${WORK}" ${objects} COMMAND_ERROR_IS_FATAL ANY)
    build_program("${WORK}/consumer" -Ofast)
endif()
execute_process(COMMAND "${MAKE}" -C "${WORK}" -t targets all OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
if(targets MATCHES "weft/CMakeFiles/[^:\n]*(Unity|_autogen)[^:\n]*")
    message(FATAL_ERROR "Weft's files are compiled together, or by Qt's tools: ${CMAKE_MATCH_0}")
endif()

build_program("${WORK}/plain" -O1)
execute_process(COMMAND "${WORK}/consumer" OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${WORK}/plain" OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
message(NOTICE "parent: ${found}plain:  ${expected}")
if(CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT found MATCHES "flushes=1")
    message(FATAL_ERROR "The parent's program was not linked with -ffast-math: nothing was tried")
endif()
string(REGEX REPLACE "flushes=." "" found "${found}")
string(REGEX REPLACE "flushes=." "" expected "${expected}")
if(NOT found STREQUAL expected OR NOT found MATCHES "^WEFT_OK ")
    message(FATAL_ERROR "The parent's options changed the bits: ${found} instead of ${expected}")
endif()
