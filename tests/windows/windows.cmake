# SPDX-License-Identifier: MIT
#
# The tests of a build for Windows, which Wine runs on this machine's Vulkan drivers and, by way of a DLL that leads to this
# machine's libLLVM, on the processor device: the programs of tests/unit, tests/model and tests/windows, but for those that say
# `weft-test: posix`, and the cases of `weft verify` that execute every kernel. What is said of Linux alone (pages, packages, the command as a shell sees it,
# validation, sanitizers) is not said twice. A display must be there, such as Xvfb's, or Wine has no Vulkan.

find_program(WEFT_WINE wine64 PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
find_program(WEFT_WINESERVER wineserver PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
find_program(WEFT_WINEGCC NAMES winegcc-stable winegcc PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
find_program(WEFT_WINEBUILD NAMES winebuild-stable winebuild PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(WEFT_WINE WEFT_WINESERVER WEFT_WINEGCC WEFT_WINEBUILD)
if(NOT WEFT_WINE OR NOT WEFT_WINESERVER OR NOT WEFT_WINEGCC OR NOT WEFT_WINEBUILD)
    message(FATAL_ERROR "The tests of a build for Windows need Wine (wine64, wine64-tools), which ./dev test windows installs; "
            "-DWEFT_BUILD_TESTS=OFF builds without them.")
endif()

set(weft_wine_dir "${PROJECT_BINARY_DIR}/wine")
set(weft_bridge_dir "${PROJECT_BINARY_DIR}/llvm-bridge")
configure_file(windows/wine.sh.in "${PROJECT_BINARY_DIR}/wine.sh" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CMAKE_CROSSCOMPILING_EMULATOR "${PROJECT_BINARY_DIR}/wine.sh")

if(WEFT_HAVE_LLVM)
    string(REGEX MATCH "^[0-9]+" weft_llvm_major "${weft_llvm_version}")
    cmake_path(GET WEFT_LLVM_INCLUDE_DIR PARENT_PATH weft_llvm_prefix)
    set(weft_bridge "${CMAKE_CURRENT_SOURCE_DIR}/windows/llvm_bridge")
    add_custom_command(
        OUTPUT "${weft_bridge_dir}/LLVM-C.dll"
        BYPRODUCTS "${weft_bridge_dir}/llvm-c.dll.so"
        COMMAND "${CMAKE_COMMAND}" "-DFUNCTIONS=${weft_llvm_dir}/llvm_functions.h" "-DHEADERS=${weft_llvm_include_dirs}"
                "-DMAJOR=${weft_llvm_major}" "-DOUTPUT=${weft_bridge_dir}" -P "${weft_bridge}.cmake"
        COMMAND "${WEFT_WINEGCC}" -m64 -shared -o llvm-c.dll llvm_bridge.spec "${weft_bridge}.c" "-I${weft_bridge_dir}"
                "-L${weft_llvm_prefix}/lib" "-lLLVM-${weft_llvm_major}"
        COMMAND "${WEFT_WINEBUILD}" -m64 --dll --fake-module -E llvm_bridge.spec -F LLVM-C.dll -o LLVM-C.dll
        DEPENDS weft_llvm_functions "${weft_bridge}.c" "${weft_bridge}.cmake"
        WORKING_DIRECTORY "${weft_bridge_dir}"
        COMMENT "LLVM-C.dll for Wine" VERBATIM)
    file(MAKE_DIRECTORY "${weft_bridge_dir}")
    add_custom_target(weft_llvm_bridge ALL DEPENDS "${weft_bridge_dir}/LLVM-C.dll")
endif()

# Programs run on the processor device, where it has a compiler, which is much faster; all cases and what opens devices run
# on a driver, too.
include(cmake/drivers.cmake)
set(weft_vulkan_drivers ${weft_drivers})
foreach(driver IN LISTS weft_drivers)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/test-cache/${driver}") # of the driver's own: Weft's is in Wine's folders
endforeach()
if(weft_processors)
    set(weft_drivers processor-8)
    set(weft_one_driver processor-8)
    set(weft_quick_driver processor-8)
endif()
include(cmake/programs.cmake)
if(weft_processors)
    foreach(name cancel device frames op pipeline toeplitz)
        weft_add_device_test(unit.${name} DRIVERS ${weft_vulkan_drivers} LABELS unit COMMAND ${weft_test_unit_${name}})
    endforeach()
    weft_add_device_test(embed.embed DRIVERS ${weft_vulkan_drivers} LABELS embed COMMAND ${weft_test_embed_embed})
    # What these expect is that of a driver.
    foreach(name unit.cancel unit.device unit.op unit.pipeline unit.toeplitz embed.embed)
        set_tests_properties(${name}.processor-8 PROPERTIES DISABLED TRUE)
    endforeach()
    list(APPEND weft_vulkan_drivers processor-8)
endif()

if(WEFT_BUILD_CLI)
    set_target_properties(weft-cli PROPERTIES CROSSCOMPILING_EMULATOR "${CMAKE_CROSSCOMPILING_EMULATOR}")
    include(cmake/cases.cmake)
    weft_add_device_test(verify DRIVERS ${weft_vulkan_drivers} LABELS verify
        COMMAND weft-cli verify --bits tests/data/bits --device all --list "${weft_lists}/kernels.txt")
    weft_add_host_test(command.utf8 LABELS cli
        COMMAND "${CMAKE_COMMAND}" "-DCOMMAND=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:weft-cli>"
                "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}" -P tests/windows/command.cmake)
endif()

include(cmake/order.cmake)
