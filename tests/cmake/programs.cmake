# SPDX-License-Identifier: MIT
#
# Each tests/unit/test_*.c, tests/unit/test_*.cpp, tests/model/test_*.c, tests/embed/*.c, tests/driver/test_*.c and, where the
# command is built, tests/cli/test_*.c is one cmocka program, linked to the library's objects so that hidden functions are within reach, and to
# tests/support/*.c and *.cpp.

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

# Which drivers a test runs on is decided by what another driver could find that these do not:
#   - `device`: a test of the device layer, which goes another way on each back end. Lavapipe of other widths and a newer Mesa are the same
#     back end; what they can find is in the kernels, which `weft verify` and the next kind run there.
#   - `every device`: a test of kernels that `weft verify` does not choose, or not in this way, which each compiler may compile wrongly.
#   - `one device`: a test that needs a device and tests something else. The numbers that it looks at are made by kernels that
#     `weft verify` holds to their bits on every driver.
# That no other test runs on all drivers is checked by registered.drivers (registered.cmake).
set(weft_back_ends "")
foreach(driver IN LISTS weft_drivers weft_more_drivers)
    if(NOT driver MATCHES "^(lavapipe-4|lavapipe-16|mesa-backports|vulkan-1\\.1)$")
        list(APPEND weft_back_ends ${driver})
    endif()
endforeach()

# weft_test_drivers(<variable> <variable of those in ./dev test> <test> <head of its source>): none for a test of the host.
function(weft_test_drivers variable quick_variable short head)
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
        if(short MATCHES "^(device|embed|submit_with|threads)$") # what differs there
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

# weft_add_test_program(<folder> <source>)
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
    set(target "weft-test-${folder}-${short}")
    add_executable(${target} "${source}")
    weft_compile_options(${target})
    target_link_libraries(${target} PRIVATE ${weft_support_library})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME "${short}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/${folder}")
    weft_finish_program(${target})
    if(head MATCHES "/\\* weft-test: (slow )?faults") # what support_faults.h stands in front of
        target_link_options(${target} PRIVATE
            "LINKER:--wrap=weft_loader_open,--wrap=weft_soft_get_instance_proc_addr")
    endif()

    # The marker decides how the test is registered, so a change of it must configure again; the
    # source is copied nowhere, only its time is watched.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    set(labels ${folder})
    if(head MATCHES "/\\* weft-test: slow" OR (WEFT_SANITIZE AND head MATCHES "/\\* weft-test: (one|long|every|device|faults)"))
        list(APPEND labels long)
    endif()
    if(NOT "long" IN_LIST labels AND NOT folder STREQUAL "cli") # the presets that build it alone have no tests of that folder
        add_dependencies(weft-quick ${target})
    endif()
    weft_test_drivers(drivers quick "${short}" "${head}")
    if(drivers)
        weft_add_device_test("${folder}.${short}" DRIVERS ${drivers} QUICK ${quick} LABELS ${labels} COMMAND ${target})
    else()
        weft_add_host_test("${folder}.${short}" LABELS ${labels} COMMAND ${target})
    endif()
endfunction()

set(weft_test_patterns unit/test_*.c unit/test_*.cpp model/test_*.c embed/*.c driver/test_*.c)
if(WIN32)
    list(APPEND weft_test_patterns windows/test_*.c)
elseif(WEFT_BUILD_CLI)
    list(APPEND weft_test_patterns cli/test_*.c)
endif()
if(WEFT_BUILD_CLI AND NOT WIN32)
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
        if(folder STREQUAL "cli")
            cmake_path(GET source STEM stem)
            string(REGEX REPLACE "^test_" "" short "${stem}")
            add_dependencies("weft-test-cli-${short}" weft-cli)
            # What `weft bench` and reports are made of is looked at from within, too.
            if(short MATCHES "^(growth|executable_json|bench_.*|certify.*|interrupted.*)$")
                target_sources("weft-test-cli-${short}" PRIVATE $<TARGET_OBJECTS:weft-cli-objects>)
                target_include_directories("weft-test-cli-${short}" PRIVATE
                    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/api/cli")
            endif()
            if(short MATCHES "^interrupted") # which runs the whole command, in children of its process
                target_sources("weft-test-cli-${short}" PRIVATE $<TARGET_OBJECTS:weft-test-command>)
            endif()
        endif()
    endforeach()
endforeach()

# A receipt of one kind of device verifies on another, OpenCL's among them.
if(TARGET weft-test-cli-receipt AND "opencl-pocl" IN_LIST weft_opencl_drivers)
    weft_add_device_test(cli.receipt DRIVERS opencl-pocl QUICK NONE LABELS cli COMMAND weft-test-cli-receipt)
endif()

if(TARGET weft-test-unit-opencl_emit AND OpenCL_FOUND)
    target_link_libraries(weft-test-unit-opencl_emit PRIVATE OpenCL::OpenCL)
endif()

# ./dev test has a part of the faults, ./dev test all has every one; on the processor device and, for images, on a driver.
if(TARGET weft-test-unit-faults AND WEFT_HAVE_LLVM)
    set(weft_sanitized "")
    if(WEFT_SANITIZE)
        set(weft_sanitized long)
    endif()
    weft_add_device_test(unit.faults ONE_DRIVER LABELS unit ${weft_sanitized} COMMAND weft-test-unit-faults)
    weft_add_device_test(unit.faults.all ONE_DRIVER LABELS unit long
        COMMAND "${CMAKE_COMMAND}" -E env WEFT_TEST_FAULTS=all $<TARGET_FILE:weft-test-unit-faults>)
    weft_add_host_test(unit.faults.all LABELS unit long COMMAND weft-test-unit-faults)
    set_tests_properties(unit.faults.all PROPERTIES
        ENVIRONMENT "${weft_test_env};WEFT_TEST_FAULTS=all")
endif()

# Threads on one device for a few seconds there, for longer here.
if(TARGET weft-test-unit-threads AND WEFT_HAVE_LLVM)
    weft_add_host_test(unit.threads.longer LABELS unit long COMMAND weft-test-unit-threads)
    set_tests_properties(unit.threads.longer PROPERTIES
        ENVIRONMENT "${weft_test_env};${weft_driver_env_processor-8};WEFT_TEST_THREAD_SECONDS=20")
endif()

# The processor's jobs on threads of the program's, its own threads, and its compiler; under Wine all programs run there.
if(WEFT_HAVE_LLVM AND NOT WIN32)
    foreach(name float_state host_thread)
        if(TARGET weft-test-unit-${name})
            set(labels unit)
            if(name STREQUAL float_state) # verify's floats.trap is in ./dev test
                list(APPEND labels long)
            else()
                add_dependencies(weft-quick weft-test-unit-${name})
            endif()
            weft_add_device_test(unit.${name} DRIVERS processor-8 LABELS ${labels} COMMAND weft-test-unit-${name})
        endif()
    endforeach()
endif()
