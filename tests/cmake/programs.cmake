# SPDX-License-Identifier: MIT
#
# The tests/unit/test_*.c are one cmocka program, <build>/tests/unit-tests, and so are those of tests/model, embed, driver and, where the
# command is built, cli: `unit-tests NAME` runs tests/unit/test_NAME.c. Programs are linked to the library's objects so that hidden functions
# are within reach, and to tests/support/*.c and *.cpp; one for each file was 5 GB.

include(cmake/named.cmake)
file(GLOB weft_support_sources CONFIGURE_DEPENDS
     "${CMAKE_CURRENT_SOURCE_DIR}/support/*.c" "${CMAKE_CURRENT_SOURCE_DIR}/support/*.cpp")
weft_keep_platform(weft_support_sources)
add_library(weft_test_support INTERFACE)
target_include_directories(weft_test_support INTERFACE
    "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/support"
    "${PROJECT_SOURCE_DIR}/shaders/include" "${weft_numbers_dir}")
target_link_libraries(weft_test_support INTERFACE weft_evaluator weft_reference weft_internal PkgConfig::WEFT_CMOCKA)
target_compile_definitions(weft_test_support INTERFACE
    "$<$<COMPILE_LANGUAGE:C>:_XOPEN_SOURCE=700>" # folders, pipes and the environment
    "WEFT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"" "WEFT_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
if(WEFT_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID MATCHES "Clang") # gcc says so by itself
    target_compile_definitions(weft_test_support INTERFACE __SANITIZE_ADDRESS__=1)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
    # gcc 12 ends in vect_transform_reduction, an internal error, at the largest difference of two arrays.
    target_compile_options(weft_test_support INTERFACE -fno-tree-loop-vectorize)
endif()
# cmocka 2 has new names for what 1.1 has under the old ones alone.
target_compile_definitions(weft_test_support INTERFACE CMOCKA_DISABLE_DEPRECATION_WARNINGS=1)
# assert() in a test must hold in every build type.
target_compile_options(weft_test_support INTERFACE -UNDEBUG)
if(MINGW) # cmocka's messages are declared to be of Microsoft's printf
    target_compile_options(weft_test_support INTERFACE -Wno-format -Wno-format-security)
endif()
if(weft_support_sources)
    add_library(weft_test_support_objects STATIC ${weft_support_sources} ${weft_driver_sources})
    weft_compile_options(weft_test_support_objects)
    target_link_libraries(weft_test_support_objects PUBLIC weft_test_support)
    target_include_directories(weft_test_support_objects SYSTEM PRIVATE "${WEFT_RAPIDJSON_INCLUDE_DIR}")
    # What OpenCL devices compute is tested where there are headers and a loader to link to.
    find_package(OpenCL QUIET)
    if(OpenCL_FOUND)
        target_include_directories(weft_test_support_objects SYSTEM PRIVATE "${OpenCL_INCLUDE_DIRS}")
        target_compile_definitions(weft_test_support_objects PRIVATE WEFT_TEST_OPENCL=1 CL_TARGET_OPENCL_VERSION=120)
    endif()
    if(WEFT_SANITIZE MATCHES "undefined") # RapidJSON is headers: its undefined behaviour is not ours
        set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/support/schema.cpp" PROPERTIES
            COMPILE_OPTIONS -fno-sanitize=undefined)
    endif()
    set(weft_support_library weft_test_support_objects)
else()
    set(weft_support_library weft_test_support)
endif()

# The programs of tests that are not long, for ./dev test with sanitizers.
add_custom_target(weft-quick)

# Tests that this file and ./dev foreign name.
set(weft_vulkan11_tests device submit_with threads)
file(STRINGS "${PROJECT_SOURCE_DIR}/packaging/provision/foreign.sh" weft_foreign_tests REGEX "^foreign_unit_tests=")
string(REGEX REPLACE "^.*=\\((.+)\\)$" "\\1" weft_foreign_tests "${weft_foreign_tests}")
separate_arguments(weft_foreign_tests)
weft_named_tests(unit ${weft_foreign_tests})
weft_named_tests(unit ${weft_vulkan11_tests} faults float_state host_thread)
weft_named_tests(cli receipt)

# Which drivers a test runs on is decided by what another driver could find that these do not:
#   - `device`: a test of the device layer, which goes another way on each back end. Lavapipe of other widths and a newer Mesa are the same
#     back end; what they can find is in the kernels, which `weft verify` and the next kind run there.
#   - `every device`: a test of kernels that `weft verify` does not choose, or not in this way, which each compiler may compile wrongly.
#   - `one device`: a test that needs a device and tests something else. The numbers that it looks at are made by kernels that
#     `weft verify` holds to their bits on every driver.
# That no other test runs on all drivers is checked by drivers.reasons (tests/house/drivers.cmake).
set(weft_back_ends "")
foreach(driver IN LISTS weft_drivers weft_more_drivers)
    if(NOT driver MATCHES "^(lavapipe-4|lavapipe-16|mesa-backports|vulkan-1\\.1)$")
        list(APPEND weft_back_ends ${driver})
    endif()
endforeach()

# weft_test_drivers(<variable> <variable of those in ./dev test> <folder> <test> <head of its source>): none for a test of the host.
function(weft_test_drivers variable quick_variable folder short head)
    set(drivers "")
    set(quick ${weft_quick_driver})
    if(head MATCHES "/\\* weft-test: ((long|slow) )?(every )?device \\*/")
        set(drivers ${weft_back_ends})
        if(head MATCHES "every device \\*/")
            set(drivers ${weft_drivers} ${weft_more_drivers})
            list(REMOVE_ITEM drivers ${weft_vulkan11_drivers}) # lavapipe-8's kernels
        endif()
        if(head MATCHES "/\\* weft-test: (every )?device")
            list(APPEND quick ${weft_one_driver})
        endif()
        if(NOT folder MATCHES "^(unit|embed)$") # models: no call of theirs waits otherwise
            list(REMOVE_ITEM drivers ${weft_vulkan11_drivers})
            if(WEFT_SANITIZE AND weft_processors) # what sanitizers see is the same there, and takes a tenth of a driver's time
                set(drivers processor-8)
            endif()
        endif()
        if(folder STREQUAL "embed" OR short IN_LIST weft_vulkan11_tests) # what differs there
            list(APPEND drivers ${weft_vulkan11_drivers})
            list(APPEND quick ${weft_vulkan11_drivers})
        endif()
    elseif(head MATCHES "/\\* weft-test: opencl \\*/") # without a driver: once, and skipped
        set(drivers ${weft_opencl_drivers})
        set(quick opencl-pocl)
    elseif(head MATCHES "/\\* weft-test: (slow )?one driver \\*/")
        set(drivers ${weft_one_driver})
        set(quick ${weft_one_driver})
    elseif(head MATCHES "/\\* weft-test: (slow )?one device \\*/")
        set(drivers ${weft_quick_driver})
    endif()
    list(REMOVE_DUPLICATES drivers)
    set(${variable} ${drivers} PARENT_SCOPE)
    set(${quick_variable} ${quick} PARENT_SCOPE)
endfunction()

# weft_make_test_program(<target> <name>): without a source yet.
function(weft_make_test_program target name)
    add_executable(${target})
    weft_compile_options(${target})
    target_link_libraries(${target} PRIVATE ${weft_support_library})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME "${name}-tests" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" LINKER_LANGUAGE CXX)
    weft_finish_program(${target})
endfunction()

# weft_test_program(<variable> <folder> <test> <head of its source> <labels>): the target that the source belongs to, the folder's but for
#   - C++, which has a main of its own;
#   - `faults`: functions of the library are wrapped in it;
#   - `own program`: it links what others must not, or runs where they cannot.
# With sanitizers, what ./dev test does not run is apart, and not built for it.
function(weft_test_program variable folder short source head labels)
    set(name ${folder})
    if(source MATCHES "\\.cpp$" OR head MATCHES "/\\* weft-test: ((slow )?faults|own program)")
        set(name ${folder}-${short})
    elseif(WEFT_SANITIZE AND "long" IN_LIST labels)
        set(name ${folder}-long)
    endif()
    set(target weft-tests-${name})
    if(NOT TARGET ${target})
        weft_make_test_program(${target} ${name})
    endif()
    set(${variable} ${target} PARENT_SCOPE)
endfunction()

# weft_add_test_program(<folder> <source>): sets weft_test_<folder>_<test> to the command.
function(weft_add_test_program folder source)
    cmake_path(GET source STEM stem)
    file(STRINGS "${source}" head LIMIT_COUNT 5)
    if(WIN32 AND head MATCHES "/\\* weft-test: posix \\*/")
        return()
    endif()
    if(NOT WEFT_HAVE_LLVM AND head MATCHES "/\\* weft-test: (slow )?faults")
        return() # what fails is the processor device
    endif()
    # Sanitizers see the host's code: what mixers and ops do there, the cases of `weft verify` do, too. The thread sanitizer sees threads.
    if(WEFT_SANITIZE AND head MATCHES "/\\* weft-test: ((long|slow) )?(one|every) device \\*/")
        return()
    endif()
    if(WEFT_SANITIZE MATCHES "thread")
        file(STRINGS "${source}" threads REGEX "thread" LIMIT_COUNT 1)
        if(NOT threads)
            return()
        endif()
    endif()
    string(REGEX REPLACE "^test_" "" short "${stem}")

    # The marker decides how the test is registered, so a change of it must configure again; the
    # source is copied nowhere, only its time is watched.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    set(labels ${folder})
    if(head MATCHES "/\\* weft-test: slow" OR (WEFT_SANITIZE AND head MATCHES "/\\* weft-test: (one|long|every|device|faults|opencl)"))
        list(APPEND labels long)
    endif()
    weft_test_program(target "${folder}" "${short}" "${source}" "${head}" "${labels}")
    target_sources(${target} PRIVATE "${source}")
    set(command ${target} ${short})
    if(source MATCHES "\\.cpp$")
        set(command ${target})
    endif()
    set(weft_test_${folder}_${short} "${command}" PARENT_SCOPE)
    if(head MATCHES "/\\* weft-test: (slow )?faults") # what support_faults.h stands in front of
        target_link_options(${target} PRIVATE
            "LINKER:--wrap=weft_loader_open,--wrap=weft_soft_get_instance_proc_addr")
    endif()
    if(NOT "long" IN_LIST labels)
        add_dependencies(weft-quick ${target})
    endif()
    weft_test_drivers(drivers quick "${folder}" "${short}" "${head}")
    if(drivers)
        weft_add_device_test("${folder}.${short}" DRIVERS ${drivers} QUICK ${quick} LABELS ${labels} COMMAND ${command})
    else()
        weft_add_host_test("${folder}.${short}" LABELS ${labels} COMMAND ${command})
    endif()
endfunction()

set(weft_test_patterns unit/test_*.c unit/test_*.cpp model/test_*.c embed/*.c driver/test_*.c)
if(WIN32)
    list(APPEND weft_test_patterns windows/test_*.c)
elseif(WEFT_BUILD_CLI AND NOT WEFT_SANITIZE) # there the command's tests are command.hostile (sanitized.cmake)
    list(APPEND weft_test_patterns cli/test_*.c)
endif()
if(WEFT_BUILD_CLI AND NOT WIN32 AND NOT WEFT_SANITIZE)
    add_library(weft-test-command OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/api/cli/main.c")
    weft_compile_options(weft-test-command)
    target_compile_definitions(weft-test-command PRIVATE main=weft_test_command)
    target_include_directories(weft-test-command PRIVATE
        "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api" "${PROJECT_SOURCE_DIR}/api/cli")
    target_link_libraries(weft-test-command PRIVATE weft_core weft::weft)
endif()
foreach(pattern IN LISTS weft_test_patterns)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
    cmake_path(GET pattern PARENT_PATH folder)
    foreach(source IN LISTS sources)
        weft_add_test_program("${folder}" "${source}")
    endforeach()
endforeach()

# What `weft bench` and reports are made of is looked at from within, and the whole command runs in children of the process, too.
if(TARGET weft-tests-cli)
    add_dependencies(weft-tests-cli weft-cli)
    target_sources(weft-tests-cli PRIVATE $<TARGET_OBJECTS:weft-cli-objects> $<TARGET_OBJECTS:weft-test-command>)
    target_include_directories(weft-tests-cli PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api/cli")
endif()

# A receipt of one kind of device verifies on another, OpenCL's among them.
if(weft_test_cli_receipt AND "opencl-pocl" IN_LIST weft_opencl_drivers)
    weft_add_device_test(cli.receipt DRIVERS opencl-pocl QUICK NONE LABELS cli COMMAND ${weft_test_cli_receipt})
endif()

if(TARGET weft-tests-unit-opencl_emit AND OpenCL_FOUND)
    target_link_libraries(weft-tests-unit-opencl_emit PRIVATE OpenCL::OpenCL)
endif()

# ./dev test has a part of the faults on the processor device, with sanitizers, too; ./dev test all has every one there and, for images, on a
# driver. Each is held to leak nothing by the test itself.
if(weft_test_unit_faults AND WEFT_HAVE_LLVM)
    set(weft_sanitized "")
    if(WEFT_SANITIZE)
        set(weft_sanitized long)
    endif()
    weft_add_device_test(unit.faults ONE_DRIVER QUICK NONE LABELS unit ${weft_sanitized} COMMAND ${weft_test_unit_faults})
    if(NOT WEFT_SANITIZE)
        weft_add_device_test(unit.faults.more ONE_DRIVER LABELS unit long
            COMMAND "${CMAKE_COMMAND}" -E env WEFT_TEST_FAULTS=1 $<TARGET_FILE:weft-tests-unit-faults>)
        weft_add_host_test(unit.faults.more LABELS unit long COMMAND ${weft_test_unit_faults})
        set_tests_properties(unit.faults.more PROPERTIES ENVIRONMENT "${weft_test_env};WEFT_TEST_FAULTS=1")
    endif()
endif()

# Threads on one device for a few seconds there, for longer here.
if(weft_test_unit_threads AND WEFT_HAVE_LLVM)
    weft_add_host_test(unit.threads.longer LABELS unit long COMMAND ${weft_test_unit_threads})
    set_tests_properties(unit.threads.longer PROPERTIES
        ENVIRONMENT "${weft_test_env};${weft_driver_env_processor-8};WEFT_TEST_THREAD_SECONDS=20")
endif()

# The processor's jobs on threads of the program's, its own threads, and its compiler; under Wine all programs run there.
if(WEFT_HAVE_LLVM AND NOT WIN32)
    foreach(name float_state host_thread)
        if(weft_test_unit_${name})
            set(labels unit)
            # Verify's floats.trap is in ./dev test, and with sanitizers these are in a program that it does not build.
            if(WEFT_SANITIZE OR name STREQUAL float_state)
                list(APPEND labels long)
            endif()
            weft_add_device_test(unit.${name} DRIVERS processor-8 LABELS ${labels} COMMAND ${weft_test_unit_${name}})
        endif()
    endforeach()
endif()
