# SPDX-License-Identifier: MIT
#
# The weft command: target weft-cli, file <build>/weft, with bench/ and, of weft_reference, the cases of api/verify. Linked to libweft, of
# which it uses what the public headers declare, and to weft_core for memory, files and their formats.
# Its objects but main are a target too, weft-cli-objects, which tests/rules and tests/cli link into other programs.

file(GLOB weft_cli_sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/api/cli/*.c" "${PROJECT_SOURCE_DIR}/api/cli/eval/*.c" "${PROJECT_SOURCE_DIR}/api/cli/certify/*.c")
if(NOT weft_cli_sources)
    message(FATAL_ERROR "No C source was found in ${PROJECT_SOURCE_DIR}/api/cli; "
            "-DWEFT_BUILD_CLI=OFF builds the library alone.")
endif()
list(REMOVE_ITEM weft_cli_sources "${PROJECT_SOURCE_DIR}/api/cli/main.c")
file(GLOB weft_bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.c" "${PROJECT_SOURCE_DIR}/bench/suites/*.c")
weft_keep_platform(weft_cli_sources)
weft_keep_platform(weft_bench_sources)
include(WeftPage)
include(WeftCertify)
add_library(weft-cli-objects OBJECT ${weft_cli_sources} ${weft_bench_sources} "${weft_page_source}" "${weft_certify_source}")
target_include_directories(weft-cli-objects PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api" "${PROJECT_SOURCE_DIR}/api/cli")
weft_compile_options(weft-cli-objects)

# bench/expected.json is part of the command.
set(weft_bench_expected "${PROJECT_BINARY_DIR}/bench/bench_expected.inc")
weft_embed("${PROJECT_SOURCE_DIR}/bench/expected.json" "${weft_bench_expected}" bench/expected.json)
# So are the completions, and of the manual what no table of options says.
set(weft_help_dir "${PROJECT_BINARY_DIR}/help")
foreach(name completion/weft.bash completion/weft.zsh completion/weft.fish manual.roff)
    cmake_path(GET name FILENAME weft_help_file)
    weft_embed("${PROJECT_SOURCE_DIR}/api/cli/${name}" "${weft_help_dir}/${weft_help_file}.inc" "api/cli/${name}")
    target_sources(weft-cli-objects PRIVATE "${weft_help_dir}/${weft_help_file}.inc")
endforeach()
target_sources(weft-cli-objects PRIVATE "${weft_bench_expected}" "${weft_certify_dir}/certify_bits.inc")
target_include_directories(weft-cli-objects PRIVATE "${PROJECT_BINARY_DIR}/bench" "${weft_certify_dir}" "${weft_help_dir}")
target_compile_definitions(weft-cli-objects PRIVATE "WEFT_DESCRIPTION=\"${weft_DESCRIPTION}\"")
target_link_libraries(weft-cli-objects PRIVATE weft_core weft::weft m)

# weft_add_command(<target> <file> <library>... [OBJECTS <source or object>...]): the command, linked to libraries and,
# before those, to objects.
function(weft_add_command target file)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OBJECTS")
    add_executable(${target} "${PROJECT_SOURCE_DIR}/api/cli/main.c" $<TARGET_OBJECTS:weft-cli-objects> ${arg_OBJECTS})
    weft_compile_options(${target})
    target_link_libraries(${target} PRIVATE weft_evaluator weft_reference ${arg_UNPARSED_ARGUMENTS} m)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME "${file}" LINKER_LANGUAGE CXX)
    weft_finish_program(${target})
    if(WEFT_STATIC)
        weft_link_statically(${target})
    endif()
endfunction()

weft_add_command(weft-cli weft weft::weft weft_core)
set_target_properties(weft-cli PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

# The manual page is printed by the command itself, where that runs. Windows has no use for it.
set(weft_manual "")
if(NOT WIN32 AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
    set(weft_manual "${weft_help_dir}/weft.1")
    add_custom_command(TARGET weft-cli POST_BUILD
        COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:weft-cli>" help --man > "${weft_manual}"
        BYPRODUCTS "${weft_manual}"
        VERBATIM)
endif()
