# SPDX-License-Identifier: MIT
#
# The processor device as a Vulkan driver, weft_vulkan, with its manifest <build>/tests/driver/weft-processor.json. Set
# VK_DRIVER_FILES to that, and WEFT_PROCESSOR=0 to hide the same device in the library: then Weft reaches it through the
# system's loader, and the validation layer sees what it does there.

#
# And lavapipe held to Vulkan 1.1, weft_vulkan11: weft_vulkan11_drivers are the names of that driver with and without timeline
# semaphores, if there is one. The driver small-ranges is the former with bindings of at most 32 KiB.

set(weft_vulkan11_drivers "")
if(NOT UNIX OR APPLE)
    return()
endif()
add_library(weft_vulkan MODULE "${CMAKE_CURRENT_SOURCE_DIR}/driver/icd.c" ${weft_driver_sources})
weft_compile_options(weft_vulkan)
target_link_libraries(weft_vulkan PRIVATE weft_internal)
target_include_directories(weft_vulkan PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
# A program may have another copy of libweft: neither sees the other's names.
target_link_options(weft_vulkan PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(weft_vulkan PROPERTIES
    LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/driver")
set(weft_processor_manifest "${CMAKE_CURRENT_BINARY_DIR}/driver/weft-processor.json")
set(weft_driver_env_processor "VK_DRIVER_FILES=${weft_processor_manifest}"
    "VK_ICD_FILENAMES=${weft_processor_manifest}" "WEFT_PROCESSOR=0" ${weft_same_kernels})
file(GENERATE OUTPUT "${weft_processor_manifest}" CONTENT
"{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"$<TARGET_FILE:weft_vulkan>\", \"api_version\": \"1.2.0\"}}
")

if(WEFT_BUILD_CLI AND NOT WEFT_SANITIZE)
    add_test(NAME driver.listed COMMAND weft-cli devices WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(driver.listed PROPERTIES
        LABELS unit
        ENVIRONMENT "${weft_driver_env_processor}"
        PASS_REGULAR_EXPRESSION " processor +Weft processor [^\n]* yes, the default")
endif()

if(WEFT_HAVE_LLVM AND NOT WEFT_SANITIZE) # it compiles fastest, and its kernels stay on disk
    set(weft_quick_driver processor)
    set(weft_more_drivers processor)
endif()

if("lavapipe-8" IN_LIST weft_drivers)
    add_library(weft_vulkan11 MODULE "${CMAKE_CURRENT_SOURCE_DIR}/driver/vulkan11.c" "${CMAKE_CURRENT_SOURCE_DIR}/driver/behind.c")
    weft_compile_options(weft_vulkan11)
    target_link_libraries(weft_vulkan11 PRIVATE Vulkan::Headers ${CMAKE_DL_LIBS})
    set_target_properties(weft_vulkan11 PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/driver")
    set(weft_vulkan11_manifest "${CMAKE_CURRENT_BINARY_DIR}/driver/vulkan-1.1.json")
    file(GENERATE OUTPUT "${weft_vulkan11_manifest}" CONTENT
"{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"$<TARGET_FILE:weft_vulkan11>\", \"api_version\": \"1.1.0\"}}
")
    file(READ "${WEFT_DRIVERS_DIR}/lavapipe-8.json" weft_held_manifest)
    string(JSON weft_held_driver GET "${weft_held_manifest}" ICD library_path)
    set(weft_vulkan11_drivers vulkan-1.1 vulkan-1.1-fences)
    if(NOT WEFT_SANITIZE)
        list(APPEND weft_more_drivers ${weft_vulkan11_drivers})
    endif()
    set(weft_driver_env_vulkan-1.1 ${weft_driver_env_lavapipe-8})
    list(FILTER weft_driver_env_vulkan-1.1 EXCLUDE REGEX "^VK_")
    list(APPEND weft_driver_env_vulkan-1.1 "VK_DRIVER_FILES=${weft_vulkan11_manifest}"
        "VK_ICD_FILENAMES=${weft_vulkan11_manifest}" "WEFT_HELD_DRIVER=${weft_held_driver}"
        # It is the same driver, which need not compile everything again; what Weft keeps is apart.
        "MESA_SHADER_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache/lavapipe-8")
    set(weft_driver_env_small-ranges ${weft_driver_env_vulkan-1.1} "WEFT_HELD_RANGE=32768")
    set(weft_driver_env_vulkan-1.1-fences ${weft_driver_env_vulkan-1.1} "WEFT_HELD_WITHOUT=VK_KHR_timeline_semaphore")
endif()
