# SPDX-License-Identifier: MIT
#
# For ../window, ../libplacebo and ../ffmpeg, by themselves or as a part of Weft's build.
# weft_add_host(<name> <source>...): the program weft-example-<name>, with what is in this folder.

find_package(Vulkan REQUIRED) # these programs have Vulkan of their own: the loader is linked
find_package(PkgConfig REQUIRED)
pkg_check_modules(WEFT_HOST_LIBZIP REQUIRED IMPORTED_TARGET "libzip>=1.5")

function(weft_add_host name)
    set(target "weft-example-${name}")
    set(hosts "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    add_executable(${target} ${ARGN} "${hosts}/gpu.c" "${hosts}/classifier.c" "${hosts}/photos.c")
    target_include_directories(${target} PRIVATE "${hosts}")
    target_link_libraries(${target} PRIVATE weft::weft Vulkan::Vulkan PkgConfig::WEFT_HOST_LIBZIP m)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        OUTPUT_NAME "${name}")
    if(COMMAND weft_compile_options) # Weft's own build
        weft_compile_options(${target})
        weft_finish_program(${target})
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${weft_BINARY_DIR}/examples")
    endif()
endfunction()
