# SPDX-License-Identifier: MIT
#
# The drivers that device tests run on: one per WEFT_DRIVERS_DIR/<name>.json, a Vulkan ICD manifest.
# <name>.env beside it may hold VARIABLE=VALUE lines for the driver. Sets weft_drivers (names) and
# weft_driver_env_<name>.

# What every test gets. Sanitizer reports in third-party libraries are named in tests/support.
set(weft_test_env "WEFT_OPENCL=0") # but for tests of OpenCL drivers
if(WEFT_SANITIZE MATCHES "address|leak")
    list(APPEND weft_test_env
         "ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1"
         "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0")
endif()
if(WEFT_SANITIZE MATCHES "undefined")
    list(APPEND weft_test_env "UBSAN_OPTIONS=print_stacktrace=1")
endif()
if(WEFT_SANITIZE MATCHES "thread")
    list(APPEND weft_test_env
         "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp:die_after_fork=0") # unit.null opens devices in processes of its own
endif()

# weft_read_driver(<variable> <manifest>): the environment in which a driver is the only one.
function(weft_read_driver variable manifest)
    # Loaders before 1.3.207 know only VK_ICD_FILENAMES.
    # The processor would be preferred to a software driver.
    set(env "VK_DRIVER_FILES=${manifest}" "VK_ICD_FILENAMES=${manifest}" "WEFT_PROCESSOR=0")
    cmake_path(REPLACE_EXTENSION manifest LAST_ONLY env OUTPUT_VARIABLE settings)
    if(EXISTS "${settings}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${settings}")
        file(STRINGS "${settings}" lines REGEX "=")
        list(APPEND env ${lines})
    endif()
    set(${variable} ${env} PARENT_SCOPE)
endfunction()

file(GLOB weft_manifests CONFIGURE_DEPENDS "${WEFT_DRIVERS_DIR}/*.json")
set(weft_drivers "")
foreach(manifest IN LISTS weft_manifests)
    cmake_path(GET manifest STEM name)
    if(WEFT_TEST_DRIVERS AND NOT name IN_LIST WEFT_TEST_DRIVERS)
        continue()
    endif()
    list(APPEND weft_drivers "${name}")
    weft_read_driver(weft_driver_env_${name} "${manifest}")
endforeach()
foreach(name IN LISTS WEFT_TEST_DRIVERS)
    if(NOT name IN_LIST weft_drivers)
        message(FATAL_ERROR "WEFT_TEST_DRIVERS names ${name}, but there is no "
                "${WEFT_DRIVERS_DIR}/${name}.json; ./dev setup writes these files.")
    endif()
endforeach()
if(weft_drivers)
    list(JOIN weft_drivers ", " text)
    message(STATUS "Device tests run on: ${text}")
else()
    set(weft_drivers system)
    set(weft_driver_env_system "WEFT_PROCESSOR=0")
    message(STATUS "Device tests run on the system's default Vulkan driver only: "
            "${WEFT_DRIVERS_DIR} holds no driver manifests (./dev setup writes them)")
endif()

# The processor device, at each width of vectors, for what is run on it as well as on drivers. Without any driver: there is
# nothing at that path.
set(weft_processors "")
if(WEFT_HAVE_LLVM)
    foreach(lanes 4 8 16)
        list(APPEND weft_processors processor-${lanes})
        set(weft_driver_env_processor-${lanes} "VK_DRIVER_FILES=${CMAKE_CURRENT_BINARY_DIR}/no-driver.json"
            "VK_ICD_FILENAMES=${CMAKE_CURRENT_BINARY_DIR}/no-driver.json" "WEFT_PROCESSOR_LANES=${lanes}")
    endforeach()
endif()

# Whatever else runs on the processor device has these, and the kernels that verify.quick.processor-8 compiled: with vectors of another
# width each of them would be compiled once more.
set(weft_same_kernels "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache/processor-8")
if(weft_processors)
    list(APPEND weft_same_kernels "WEFT_PROCESSOR_LANES=8")
endif()

# OpenCL drivers, each the only one: <name>.opencl has VARIABLE=VALUE lines.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/opencl/alone.env" weft_opencl_alone REGEX "^[A-Z_]+=")
file(GLOB weft_opencl_files CONFIGURE_DEPENDS "${WEFT_DRIVERS_DIR}/*.opencl")
set(weft_opencl_drivers "")
foreach(file IN LISTS weft_opencl_files)
    cmake_path(GET file STEM name)
    # Sanitizers see our side alone, which is the same for each; under them the others took half an hour, and Intel's leaks from libraries
    # that are unloaded, which no suppression names.
    if(WEFT_SANITIZE AND NOT name STREQUAL "opencl-pocl")
        continue()
    endif()
    list(APPEND weft_opencl_drivers ${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "=")
    set(weft_driver_env_${name} ${weft_opencl_alone} ${lines})
endforeach()

# The driver for tests that need some device and do not test it.
list(GET weft_drivers 0 weft_one_driver)
if("lavapipe-8" IN_LIST weft_drivers)
    set(weft_one_driver lavapipe-8)
endif()

# The driver on which ./dev test runs most of them, and drivers that device tests run on beside weft_drivers: driver.cmake knows more.
set(weft_quick_driver "${weft_one_driver}")
set(weft_more_drivers "")

# weft_add_device_test(<name> [ONE_DRIVER | DRIVERS <driver>...] [QUICK NONE | <driver>...] LABELS <label>...
#                      COMMAND <command>...): one test per driver, or on one, or on these.
#
# ./dev test leaves out what has the label "long", and ./dev test all what has the label "short", which is
# there instead of something long. QUICK: on other drivers than these the test is long.
function(weft_add_device_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_DRIVER" "WORKING_DIRECTORY"
                          "DRIVERS;QUICK;LABELS;COMMAND")
    set(drivers ${weft_drivers})
    if(arg_ONE_DRIVER)
        set(drivers ${weft_one_driver})
    elseif(arg_DRIVERS)
        set(drivers ${arg_DRIVERS})
    endif()
    foreach(driver IN LISTS drivers)
        add_test(NAME "${name}.${driver}" COMMAND ${arg_COMMAND}
                 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
        set(env ${weft_test_env} "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache/${driver}"
            "WEFT_TEST_DRIVER=${driver}" ${weft_driver_env_${driver}})
        if(NOT WIN32) # Wine's Vulkan has no layers
            list(APPEND env "WEFT_VALIDATION=1")
        endif()
        set(labels ${arg_LABELS} device ${driver})
        if(arg_QUICK AND NOT driver IN_LIST arg_QUICK)
            list(APPEND labels long)
        endif()
        set_tests_properties("${name}.${driver}" PROPERTIES ENVIRONMENT "${env}" LABELS "${labels}")
    endforeach()
endfunction()

# weft_add_host_test(<name> LABELS <label>... COMMAND <command>...): once, without a device.
function(weft_add_host_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS;COMMAND")
    add_test(NAME "${name}" COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("${name}" PROPERTIES
        ENVIRONMENT "${weft_test_env}" LABELS "${arg_LABELS}")
endfunction()
