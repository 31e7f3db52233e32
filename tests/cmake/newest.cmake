# SPDX-License-Identifier: MIT
#
# Cooperative matrices without a GPU: of the drivers that run on a processor, only lavapipe of Mesa 25.2 or later has them. Where the newest
# Mesa is unpacked (./dev test all, ./dev gpus), which comes with a C library of its own, the tests of their kernels run on it.

set(weft_newest_tests unit.cooperative unit.int8_cooperative cli.bench_device)
weft_named_tests(unit cooperative int8_cooperative)
weft_named_tests(cli bench_device)
file(GLOB weft_newest_lavapipe CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/build/deps/mesa-sid/usr/lib/*/libvulkan_lvp.so")
if(NOT weft_newest_lavapipe OR WEFT_SANITIZE)
    return()
endif()
cmake_path(GET weft_newest_lavapipe PARENT_PATH weft_newest_folder)
cmake_path(GET weft_newest_folder FILENAME weft_newest_triple)
file(GLOB weft_newest_loader "${weft_newest_folder}/ld-linux-*.so.*")
set(weft_newest_manifest "${CMAKE_CURRENT_BINARY_DIR}/newest_lavapipe.json")
file(WRITE "${weft_newest_manifest}"
    "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"${weft_newest_lavapipe}\", \"api_version\": \"1.3.0\"}}\n")
weft_read_driver(weft_newest_env "${weft_newest_manifest}")
foreach(test IN LISTS weft_newest_tests)
    string(REPLACE "." ";" parts ${test})
    list(GET parts 0 folder)
    list(GET parts 1 name)
    add_test(NAME ${test}.newest
        COMMAND "${weft_newest_loader}" --library-path
                "${weft_newest_folder}:/usr/lib/${weft_newest_triple}:/lib/${weft_newest_triple}"
                $<TARGET_FILE:weft-tests-${folder}> ${name})
    set_tests_properties(${test}.newest PROPERTIES
        ENVIRONMENT "${weft_newest_env}" LABELS "${folder};device;long"
        FAIL_REGULAR_EXPRESSION "no cooperative matrices here")
endforeach()
