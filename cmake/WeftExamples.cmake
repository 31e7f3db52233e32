# SPDX-License-Identifier: MIT
#
# Each api/examples/<name>.c is a program of its own, <build>/examples/<name>.

file(GLOB weft_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/examples/*.c")
foreach(source IN LISTS weft_examples)
    cmake_path(GET source STEM name)
    add_executable(weft-example-${name} "${source}")
    weft_compile_options(weft-example-${name})
    target_link_libraries(weft-example-${name} PRIVATE weft::weft m)
    set_target_properties(weft-example-${name} PROPERTIES
        OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    weft_finish_program(weft-example-${name})
endforeach()
