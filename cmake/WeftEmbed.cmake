# SPDX-License-Identifier: MIT
#
# weft_embed(<file> <initialiser> <name>): how a file becomes what stands between the braces of an array in C.
function(weft_embed file initialiser name)
    add_custom_command(
        OUTPUT "${initialiser}"
        COMMAND "${CMAKE_COMMAND}" "-DINPUT=${file}" "-DOUTPUT=${initialiser}"
                -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        DEPENDS "${file}" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
        COMMENT "Embedding ${name}"
        VERBATIM)
endfunction()
