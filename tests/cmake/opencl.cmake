# SPDX-License-Identifier: MIT
#
# OpenCL: a library whose device lacks something, for cli.opencl, other devices' tests on OpenCL drivers, and the example.

# libOpenCL.so.1 in <build>/tests/NAME: weft_add_fake_opencl(<name> [definition...])
function(weft_add_fake_opencl name)
    add_library(weft-${name} SHARED "${CMAKE_CURRENT_SOURCE_DIR}/opencl/fake.c" "${CMAKE_CURRENT_SOURCE_DIR}/opencl/stand_in.c")
    weft_compile_options(weft-${name})
    target_include_directories(weft-${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_compile_definitions(weft-${name} PRIVATE ${ARGN})
    set_target_properties(weft-${name} PROPERTIES OUTPUT_NAME OpenCL SOVERSION 1
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/${name}")
    if(TARGET weft-tests-cli)
        add_dependencies(weft-tests-cli weft-${name})
    endif()
endfunction()
weft_add_fake_opencl(fake-opencl)
weft_add_fake_opencl(fake-opencl-1.1 WEFT_FAKE_OPENCL_1_1)

# What every device must do, on these too.
set(weft_opencl_tests cancel fork groups one_nan op plan threads)
weft_named_tests(unit ${weft_opencl_tests})
foreach(name IN LISTS weft_opencl_tests)
    if(weft_test_unit_${name} AND weft_opencl_drivers)
        weft_add_device_test(unit.${name} DRIVERS ${weft_opencl_drivers} QUICK NONE LABELS unit
                             COMMAND ${weft_test_unit_${name}})
    endif()
endforeach()

if(TARGET weft-example-opencl AND weft_opencl_drivers)
    weft_add_device_test(example.opencl DRIVERS ${weft_opencl_drivers} QUICK opencl-pocl LABELS example
                         COMMAND weft-example-opencl)
endif()
