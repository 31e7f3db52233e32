# SPDX-License-Identifier: MIT
#
# Compiles args.c as CASE says, with the header of the shader as it is or of one that was changed, and looks at the result.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/kernels/elementwise")
set(flags "-I${FOLDER}") # in front of the build's own headers
foreach(folder IN LISTS INCLUDES)
    list(APPEND flags "-I${folder}")
endforeach()

set(from_REORDERED "float scale[;]\n    float offset[;]")
set(to_REORDERED "float offset;\n    float scale;")
set(from_ADDED "float scale[;]")
set(to_ADDED "float scale;\n    float power;")
set(from_RENAMED "scale")
set(to_RENAMED "factor")
if(DEFINED from_${CASE})
    file(READ "${SHADERS}/elementwise/affine.comp" text)
    string(REGEX REPLACE "${from_${CASE}}" "${to_${CASE}}" changed "${text}")
    if(changed STREQUAL text)
        message(FATAL_ERROR "the shader has no '${from_${CASE}}' to change")
    endif()
    file(WRITE "${FOLDER}/affine.comp" "${changed}")
    execute_process(COMMAND "${VALIDATOR}" --quiet -V --target-env vulkan1.1 "-I${SHADERS}/include"
        -o "${FOLDER}/affine.spv" "${FOLDER}/affine.comp" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${TOOL}" elementwise/affine "${FOLDER}/affine.spv" "${FOLDER}/affine.spv"
        "${FOLDER}/kernels/elementwise/affine" COMMAND_ERROR_IS_FATAL ANY)
endif()

execute_process(
    COMMAND "${COMPILER}" -std=c11 -Wall -Wextra -Werror "-D${CASE}" ${flags} -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE result ERROR_VARIABLE messages)
if(RESULT EQUAL 0 AND NOT result EQUAL 0)
    message(FATAL_ERROR "it should compile:\n${messages}")
elseif(NOT RESULT EQUAL 0 AND result EQUAL 0)
    message(FATAL_ERROR "it should not compile")
elseif(EXPECT AND NOT messages MATCHES "${EXPECT}")
    message(FATAL_ERROR "no '${EXPECT}' in:\n${messages}")
endif()
