# SPDX-License-Identifier: MIT
#
# An overlay port in Weft's own source tree: vcpkg install weft --overlay-ports=packaging/vcpkg/ports
cmake_path(ABSOLUTE_PATH CMAKE_CURRENT_LIST_DIR NORMALIZE OUTPUT_VARIABLE SOURCE_PATH)
foreach(level RANGE 3) # ports/weft, in packaging/vcpkg
    cmake_path(GET SOURCE_PATH PARENT_PATH SOURCE_PATH)
endforeach()

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES
    processor WEFT_LLVM)

# VkFFT 1.3 or later; a registry whose vkfft is older needs VCPKG_KEEP_ENV_VARS=VKFFT_INCLUDE_DIR, and that folder.
set(vkfft "${CURRENT_INSTALLED_DIR}/include/VkFFT")
if(DEFINED ENV{VKFFT_INCLUDE_DIR})
    set(vkfft "$ENV{VKFFT_INCLUDE_DIR}")
endif()

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DWEFT_BUILD_CLI=OFF
        -DWEFT_BUILD_EXAMPLES=OFF
        -DWEFT_BUILD_TESTS=OFF
        "-DVKFFT_INCLUDE_DIR=${vkfft}"
        "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
        "-DCMAKE_PROGRAM_PATH=${CURRENT_HOST_INSTALLED_DIR}/tools/glslang")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/weft)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
                    "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/THIRD-PARTY-NOTICES.txt")
