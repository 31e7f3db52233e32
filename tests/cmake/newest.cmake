# SPDX-License-Identifier: MIT
#
# Cooperative matrices without a GPU: of the drivers that run on a processor, only lavapipe of Mesa 25.2 or later has them. Where the newest
# Mesa is unpacked (./dev test all, ./dev gpus), which comes with a C library of its own, the tests of their kernels run on it.

set(weft_newest_tests cooperative int8_cooperative)
weft_named_tests(unit ${weft_newest_tests})
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
foreach(name IN LISTS weft_newest_tests)
    add_test(NAME unit.${name}.newest
        COMMAND "${weft_newest_loader}" --library-path
                "${weft_newest_folder}:/usr/lib/${weft_newest_triple}:/lib/${weft_newest_triple}"
                $<TARGET_FILE:weft-tests-unit> ${name})
    set_tests_properties(unit.${name}.newest PROPERTIES
        ENVIRONMENT "${weft_newest_env}" LABELS "unit;device;long"
        FAIL_REGULAR_EXPRESSION "no cooperative matrices here")
endforeach()
