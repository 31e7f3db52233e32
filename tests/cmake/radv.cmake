# SPDX-License-Identifier: MIT
#
# Mesa's Vulkan driver for AMD's GPUs (RADV) on a GPU in software (tests/radv): its own descriptors, command streams and machine code, by its
# compiler ACO, are executed as those of clang are in amd.cmake. A library is preloaded that is the kernel's side, and stands before the driver.

if(NOT TARGET weft-amd OR NOT WEFT_BUILD_CLI OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
endif()
# The newest of the drivers that compile only: they need no more than a kernel.
set(weft_radv_manifest "${WEFT_COMPILERS_DIR}/amd-navi31.json")
if(NOT EXISTS "${weft_radv_manifest}")
    return()
endif()
file(READ "${weft_radv_manifest}" weft_radv_text)
string(JSON weft_radv_library GET "${weft_radv_text}" ICD library_path)

set(weft_radv_sources radv/info.c radv/kmd.c radv/memory.c radv/packets.c radv/shaders.c radv/sync.c)
add_library(weft-radv SHARED radv/icd.c driver/behind.c ${weft_radv_sources})
weft_compile_options(weft-radv)
target_compile_definitions(weft-radv PRIVATE _GNU_SOURCE)
target_include_directories(weft-radv PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(weft-radv PRIVATE weft-amd Vulkan::Headers ${CMAKE_DL_LIBS})
target_link_options(weft-radv PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(weft-radv PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/radv")
set(weft_radv_icd "${CMAKE_CURRENT_BINARY_DIR}/radv/radv.json")
file(GENERATE OUTPUT "${weft_radv_icd}" CONTENT
"{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"$<TARGET_FILE:weft-radv>\", \"api_version\": \"1.4.0\"}}
")

foreach(gpu gfx1030 gfx1100 gfx906)
    set(weft_driver_env_radv-${gpu} "VK_DRIVER_FILES=${weft_radv_icd}" "VK_ICD_FILENAMES=${weft_radv_icd}" "WEFT_PROCESSOR=0"
        "LD_PRELOAD=$<TARGET_FILE:weft-radv>" "WEFT_AMD_GPU=${gpu}" "WEFT_AMD_RADV=${weft_radv_library}")
endforeach()

# The kernel's side without a driver: packets, buffers, synchronization.
add_executable(weft-test-radv radv/test_radv.c ${weft_radv_sources})
weft_compile_options(weft-test-radv)
target_compile_definitions(weft-test-radv PRIVATE _GNU_SOURCE)
target_include_directories(weft-test-radv PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(weft-test-radv PRIVATE weft-amd PkgConfig::WEFT_CMOCKA)
set_target_properties(weft-test-radv PROPERTIES OUTPUT_NAME packets RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/radv")
weft_finish_program(weft-test-radv)
weft_add_host_test(gfx.radv.packets LABELS compilers COMMAND weft-test-radv)

# The committed bits, of every kernel.
set(weft_radv_drivers radv-gfx1030 radv-gfx1100 radv-gfx906)
weft_add_device_test(gfx.radv.kernels DRIVERS ${weft_radv_drivers} QUICK radv-gfx1100 LABELS verify
    COMMAND ${weft_verify} --list "${weft_lists}/kernels.txt")
weft_add_device_test(gfx.radv.fused DRIVERS ${weft_radv_drivers} QUICK NONE LABELS verify
    COMMAND ${weft_verify} --math fused --list "${weft_lists}/kernels.txt")

# A broken rule is noticed: ACO fuses what the module allows, and the probe refuses the device.
weft_add_device_test(gfx.radv.contracted DRIVERS radv-gfx1100 LABELS verify
    COMMAND "${CMAKE_COMMAND}" -E env WEFT_AMD_BREAK=contraction "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache/gfx-radv-contracted"
            $<TARGET_FILE:weft-cli> verify --bits tests/data/bits --filter affine/unit/rank=0)
set_tests_properties(gfx.radv.contracted.radv-gfx1100 PROPERTIES PASS_REGULAR_EXPRESSION "cannot be used with reproducible math: b - c \\* a")
