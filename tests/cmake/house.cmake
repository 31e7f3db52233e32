# SPDX-License-Identifier: MIT
#
# The order of the layers, held to by reading the includes: tests/house/layers.c has the order and the rules. That the
# test notices is shown on a copy of the tree with one include more.

add_executable(weft-layers "${CMAKE_CURRENT_SOURCE_DIR}/house/layers.c")
weft_compile_options(weft-layers)
weft_add_host_test(layers.includes LABELS house COMMAND weft-layers .)
weft_add_host_test(layers.broken LABELS house
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:weft-layers>"
            "-DCOPY=${CMAKE_CURRENT_BINARY_DIR}/layers" -P tests/house/broken.cmake)
