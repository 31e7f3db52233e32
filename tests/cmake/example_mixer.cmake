# SPDX-License-Identifier: MIT
#
# The mixer of api/examples/mixer, as a program outside of Weft has it: built against what packaging.install has
# installed, by find_package, and run on every driver. Where nothing is installed, which is with sanitizers, the programs
# that are run are built here, with the tests; otherwise the mixer is built here for the evaluation of its kernels alone.

set(weft_example "${PROJECT_SOURCE_DIR}/api/examples/mixer")
if(WEFT_INSTALL AND NOT WEFT_SANITIZE)
    add_subdirectory("${weft_example}" example_mixer EXCLUDE_FROM_ALL)
    weft_add_packaging_test(example)
    set_tests_properties(packaging.example PROPERTIES
        FIXTURES_REQUIRED weft_stage FIXTURES_SETUP weft_example LABELS "packaging;example")
    set(weft_example_cases "${weft_stage}/example/moving_average_cases")
    set(weft_example_properties "${weft_stage}/example/moving_average_properties")
else()
    add_subdirectory("${weft_example}" example_mixer)
    foreach(target moving_average_cases moving_average_properties)
        weft_compile_options(${target})
        weft_finish_program(${target})
    endforeach()
    set(weft_example_cases "$<TARGET_FILE:moving_average_cases>")
    set(weft_example_properties "$<TARGET_FILE:moving_average_properties>")
endif()
weft_compile_options(moving_average)

weft_add_test_program(example_mixer "${CMAKE_CURRENT_SOURCE_DIR}/example_mixer/test_evaluate.c")
if(TARGET weft-tests-example_mixer)
    target_include_directories(weft-tests-example_mixer PRIVATE "${weft_example}")
    target_sources(weft-tests-example_mixer PRIVATE $<TARGET_OBJECTS:moving_average>)
endif()

weft_add_device_test(example_mixer.verify QUICK ${weft_one_driver} LABELS example
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=${weft_example_cases}"
            "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/example_mixer/bits" -P "${weft_example}/bits.cmake")
weft_add_device_test(example_mixer.verify.fast ONE_DRIVER LABELS example COMMAND "${weft_example_cases}" --fast)
weft_add_device_test(example_mixer.properties ONE_DRIVER LABELS example COMMAND "${weft_example_properties}")

# Against an installed Weft they are built before they run, whichever of them is asked for.
foreach(driver IN LISTS weft_drivers)
    foreach(test verify verify.fast properties)
        if(TEST "example_mixer.${test}.${driver}")
            set_tests_properties("example_mixer.${test}.${driver}" PROPERTIES FIXTURES_REQUIRED weft_example)
        endif()
    endforeach()
endforeach()
