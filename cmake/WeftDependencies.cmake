# SPDX-License-Identifier: MIT
#
# Finds what libweft links. Included by Weft's own build and, when a static libweft is installed, by
# weftConfig.cmake, so that both agree on every target. Failures add a line to weft_missing; the
# includer decides whether that is fatal.
#
# Vulkan::Headers only: the loader is opened at run time, libvulkan is never linked.

set(weft_missing "")

find_package(Threads QUIET)
find_package(PkgConfig QUIET)
find_package(Vulkan QUIET)
# FindVulkan knows headers only beside a library to link.
if(NOT TARGET Vulkan::Headers)
    find_path(WEFT_VULKAN_INCLUDE_DIR vulkan/vulkan.h)
    mark_as_advanced(WEFT_VULKAN_INCLUDE_DIR)
    if(WEFT_VULKAN_INCLUDE_DIR)
        add_library(Vulkan::Headers INTERFACE IMPORTED GLOBAL)
        set_target_properties(Vulkan::Headers PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${WEFT_VULKAN_INCLUDE_DIR}")
    endif()
endif()
if(NOT Threads_FOUND)
    string(APPEND weft_missing "\n  A threads library was not found.")
endif()
if(NOT TARGET Vulkan::Headers)
    string(APPEND weft_missing "\n  The Vulkan headers (libvulkan-dev) were not found.")
endif()

if(PkgConfig_FOUND)
    pkg_check_modules(WEFT_JANSSON QUIET IMPORTED_TARGET GLOBAL "jansson>=2.11")
    pkg_check_modules(WEFT_LIBZIP QUIET IMPORTED_TARGET GLOBAL "libzip>=1.5")
    pkg_check_modules(WEFT_UTF8PROC QUIET IMPORTED_TARGET GLOBAL "libutf8proc>=2.4")
    if(NOT WEFT_JANSSON_FOUND)
        string(APPEND weft_missing "\n  jansson >= 2.11 (libjansson-dev) was not found.")
    endif()
    if(NOT WEFT_UTF8PROC_FOUND)
        string(APPEND weft_missing "\n  utf8proc >= 2.5 (libutf8proc-dev; its pkg-config file says 2.4) was not found.")
    endif()
    if(NOT WEFT_LIBZIP_FOUND)
        string(APPEND weft_missing "\n  libzip >= 1.5 (libzip-dev) was not found.")
    endif()
else()
    string(APPEND weft_missing "\n  pkg-config was not found.")
endif()

# glslang's exported targets name the SPIRV-Tools libraries by bare name, and different releases of
# SPIRV-Tools export different targets; loading its packages first lets those names resolve.
find_package(SPIRV-Tools QUIET CONFIG)
find_package(SPIRV-Tools-opt QUIET CONFIG)
find_package(SPIRV-Tools-link QUIET CONFIG)
find_package(glslang QUIET CONFIG)
if(NOT TARGET glslang::glslang OR NOT TARGET glslang::SPIRV)
    string(APPEND weft_missing "\n  glslang's libraries (glslang-dev, spirv-tools) were not found.")
endif()

if(NOT TARGET weft_dep::glslang AND TARGET glslang::SPIRV AND TARGET glslang::glslang)
    add_library(weft_dep::glslang INTERFACE IMPORTED GLOBAL)
    target_link_libraries(weft_dep::glslang INTERFACE glslang::SPIRV glslang::glslang)
    if(TARGET glslang::glslang-default-resource-limits)
        target_link_libraries(weft_dep::glslang INTERFACE glslang::glslang-default-resource-limits)
    endif()
endif()
