# SPDX-License-Identifier: MIT
#
# Null for each pointer of each public function: tests/null/generate.py makes the calls of the headers, null.c has the rest. Like
# the C++ headers' tests it needs Python (cmake/cpp.cmake).
if(NOT Python_Interpreter_FOUND OR WIN32)
    return()
endif()
set(weft_null_folder "${CMAKE_CURRENT_SOURCE_DIR}/null")
set(weft_null_calls "${CMAKE_CURRENT_BINARY_DIR}/null_calls.c")
list(TRANSFORM weft_public_headers PREPEND "${PROJECT_SOURCE_DIR}/api/include/" OUTPUT_VARIABLE weft_null_headers)
add_custom_command(OUTPUT "${weft_null_calls}"
    COMMAND "${Python_EXECUTABLE}" -B "${weft_null_folder}/generate.py" "${PROJECT_SOURCE_DIR}" "${weft_null_calls}"
    DEPENDS "${weft_null_folder}/generate.py" "${PROJECT_SOURCE_DIR}/api/python/generate/declarations.py" ${weft_null_headers}
    COMMENT "Calls with null of every public function" VERBATIM)
set_source_files_properties("${weft_null_calls}" PROPERTIES COMPILE_OPTIONS "-Wno-format;-Wno-format-security") # a format that is null
add_executable(weft-test-null null/null.c "${weft_null_calls}")
weft_compile_options(weft-test-null)
target_include_directories(weft-test-null PRIVATE "${weft_null_folder}")
target_include_directories(weft-test-null SYSTEM PRIVATE "${WEFT_OPENCL_HEADERS_INCLUDE_DIR}")
target_link_libraries(weft-test-null PRIVATE weft::weft)
set_target_properties(weft-test-null PROPERTIES OUTPUT_NAME null RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/unit")
weft_finish_program(weft-test-null)
add_dependencies(weft-quick weft-test-null)
weft_add_host_test(unit.null LABELS unit COMMAND weft-test-null api/examples/models/text-fmmformer tests/data/whisper)
