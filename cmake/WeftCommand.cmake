# SPDX-License-Identifier: MIT
#
# The weft command: target weft-cli, file <build>/weft. Linked to the library's objects and not to its public face,
# because it shares the library's file formats, and with the cases of tests/conformance, which `weft verify` runs.

file(GLOB weft_cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/cli/*.c")
if(NOT weft_cli_sources)
    message(FATAL_ERROR "No C source was found in ${PROJECT_SOURCE_DIR}/api/cli; "
            "-DWEFT_BUILD_CLI=OFF builds the library alone.")
endif()
file(GLOB weft_conformance_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/conformance/*.c")
add_executable(weft-cli ${weft_cli_sources} ${weft_conformance_sources})
target_include_directories(weft-cli PRIVATE "${PROJECT_SOURCE_DIR}/tests")
weft_compile_options(weft-cli)
target_link_libraries(weft-cli PRIVATE weft_internal m)
set_target_properties(weft-cli PROPERTIES
    OUTPUT_NAME weft RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
weft_finish_program(weft-cli)
