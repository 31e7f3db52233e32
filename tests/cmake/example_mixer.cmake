# SPDX-License-Identifier: MIT
#
# The mixer of tests/example_mixer, which runtime/mixers/README.md explains: a build of the command that
# has it, its tests, and a check of that page. Nothing of the library is changed for it: its row of the
# op table, its row of the conformance families and its shaders come in by compiling the three tables
# once more, and these objects come before the library's in the link.

if(NOT WEFT_BUILD_CLI)
    return()
endif()

set(weft_example_dir "${CMAKE_CURRENT_SOURCE_DIR}/example_mixer")
weft_embed_shaders(weft_example_shaders "${CMAKE_CURRENT_BINARY_DIR}/example_mixer/shaders"
                   MORE "${weft_example_dir}/shaders")
list(APPEND weft_spirv_modules ${weft_example_shaders_modules})

function(weft_example_objects target)
    add_library(${target} OBJECT ${ARGN})
    weft_compile_options(${target})
    target_link_libraries(${target} PRIVATE weft_requirements)
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api"
        "${CMAKE_CURRENT_BINARY_DIR}/example_mixer/shaders") # kernels/…
    target_include_directories(${target} SYSTEM PRIVATE
        "${PROJECT_BINARY_DIR}/volk" "${WEFT_VOLK_INCLUDE_DIR}")
    target_compile_definitions(${target} PRIVATE
        WEFT_BUILDING=1 "WEFT_MORE_ROWS=\"example_mixer/rows.h\"")
    add_dependencies(${target} weft_objects) # generated headers
endfunction()

# What takes the place of the library's tables, and the mixer itself.
weft_example_objects(weft-example-objects "${weft_example_dir}/moving_average.c"
    "${PROJECT_SOURCE_DIR}/runtime/plan/op_table.c" "${weft_example_shaders_source}")
add_dependencies(weft-example-objects weft_example_shaders)
# The same for the command: the table of families, and the mixer's.
weft_example_objects(weft-example-families "${weft_example_dir}/reference.c"
    "${PROJECT_SOURCE_DIR}/api/verify/conformance.c")

add_executable(weft-example "${PROJECT_SOURCE_DIR}/api/cli/main.c"
    "$<FILTER:$<TARGET_OBJECTS:weft-cli-objects>,EXCLUDE,/verify/conformance[.]c[.]>"
    $<TARGET_OBJECTS:weft-example-families> $<TARGET_OBJECTS:weft-example-objects>)
weft_compile_options(weft-example)
target_link_libraries(weft-example PRIVATE weft_evaluator weft_reference weft_internal m)
set_target_properties(weft-example PROPERTIES LINKER_LANGUAGE CXX)
weft_finish_program(weft-example)

weft_add_device_test(example_mixer.verify LABELS example COMMAND weft-example verify
    --filter moving_average/ --bits tests/example_mixer/bits.json)
weft_add_device_test(example_mixer.verify.fast ONE_DRIVER LABELS example COMMAND weft-example verify
    --filter moving_average/ --math fast)
weft_add_device_test(example_mixer.verify.evaluate ONE_DRIVER LABELS example
    COMMAND weft-example verify --filter moving_average/ --evaluate)

weft_add_test_program(example_mixer "${weft_example_dir}/test_moving_average.c")
target_sources(weft-test-example_mixer-moving_average PRIVATE $<TARGET_OBJECTS:weft-example-objects>)
