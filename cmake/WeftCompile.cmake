# SPDX-License-Identifier: MIT
#
# Dependencies that only the build needs, and weft_compile_options(): the one place that says how
# Weft's own C and C++ is compiled.

# weft_need(<variable> <file of headers> <what it is> <suffixes of include folders ...>): headers that the build alone needs.
macro(weft_need variable file what)
    find_path(${variable} ${file} PATH_SUFFIXES ${ARGN})
    mark_as_advanced(${variable})
    if(NOT ${variable})
        string(APPEND weft_missing "\n  ${what} was not found.")
    endif()
endmacro()

find_program(WEFT_GLSLANG_VALIDATOR glslangValidator)
find_program(WEFT_SPIRV_VAL spirv-val)
if(NOT WEFT_GLSLANG_VALIDATOR)
    string(APPEND weft_missing "\n  glslangValidator (glslang-tools) was not found.")
endif()
weft_need(WEFT_SPIRV_HEADERS_INCLUDE_DIR spirv/unified1/spirv.h "spirv/unified1/spirv.h (spirv-headers)")
weft_need(WEFT_VOLK_INCLUDE_DIR volk.h "volk.h (libvulkan-volk-dev)")
weft_need(WEFT_OPENCL_HEADERS_INCLUDE_DIR CL/cl.h "CL/cl.h (opencl-c-headers)") # its library is opened at run time
# By its bare name, as VkFFT includes it.
weft_need(WEFT_GLSLANG_C_INCLUDE_DIR glslang_c_interface.h "glslang_c_interface.h (glslang-dev)" glslang/Include)

# VkFFT before 1.3 does not compile with current glslang, so the version is part of the search.
function(weft_accept_vkfft result_variable folder)
    set(accepted FALSE)
    if(EXISTS "${folder}/vkFFT.h")
        file(STRINGS "${folder}/vkFFT.h" version_lines REGEX "return[ \t]+[0-9]+;.*X\\.XX\\.XX")
        string(REGEX MATCH "[0-9][0-9][0-9][0-9][0-9]+" version "${version_lines}")
        if(version AND version GREATER_EQUAL 10300)
            set(accepted TRUE)
        endif()
    endif()
    set(${result_variable} ${accepted} PARENT_SCOPE)
endfunction()

set(VKFFT_INCLUDE_DIR "" CACHE PATH "Folder that holds vkFFT.h, version 1.3 or later")
if(VKFFT_INCLUDE_DIR)
    weft_accept_vkfft(weft_vkfft_accepted "${VKFFT_INCLUDE_DIR}")
    if(NOT weft_vkfft_accepted)
        message(FATAL_ERROR "VKFFT_INCLUDE_DIR is ${VKFFT_INCLUDE_DIR}, which holds no vkFFT.h of "
                "version 1.3 or later.")
    endif()
    set(weft_vkfft_dir "${VKFFT_INCLUDE_DIR}")
else()
    set(weft_vkfft_dir "")
    foreach(folder "${WEFT_DEPS_DIR}/vkfft/usr/include" /usr/local/include /usr/include)
        weft_accept_vkfft(weft_vkfft_accepted "${folder}")
        if(weft_vkfft_accepted)
            set(weft_vkfft_dir "${folder}")
            break()
        endif()
    endforeach()
    if(NOT weft_vkfft_dir)
        string(APPEND weft_missing "\n  VkFFT 1.3 or later (libvkfft-dev of Debian 13 and of Debian 12's backports; elsewhere, download it and pass "
               "-DVKFFT_INCLUDE_DIR=<folder that holds vkFFT.h>) was not found.")
    endif()
endif()
if(weft_missing)
    message(FATAL_ERROR "Weft cannot be built here:${weft_missing}\nOn Debian, ./dev setup in ${PROJECT_SOURCE_DIR} installs everything; "
            "docs/programming.md has the list.")
endif()
message(STATUS "VkFFT: ${weft_vkfft_dir}")

set(weft_sanitize_flags "")
if(WEFT_SANITIZE)
    set(weft_sanitize_flags "-fsanitize=${WEFT_SANITIZE}" -fno-omit-frame-pointer)
    if(WEFT_SANITIZE MATCHES "undefined")
        list(APPEND weft_sanitize_flags -fno-sanitize-recover=all)
    endif()
endif()

include(WeftHardening)

# weft_compile_options(<target>): language level, warnings, the floating-point rule, hardening, sanitizers.
# Contraction and the like are off because host code computes expected bits and tables that reach the device.
function(weft_compile_options target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON BUILD_RPATH_USE_ORIGIN ON)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Wformat -Wformat-security ${weft_float_options}
        $<$<COMPILE_LANG_AND_ID:C,Clang,AppleClang>:-Wno-enum-float-conversion> # shaders' constants are enumerators
        $<IF:$<BOOL:${WEFT_WERROR}>,-Werror,${weft_no_error}>
        ${weft_hardening_compile} ${weft_sanitize_flags})
    if(MINGW) # printf as C has it, whatever the standard and the source ask for
        target_compile_definitions(${target} PRIVATE __USE_MINGW_ANSI_STDIO=1)
        # Its isfinite and isnan choose among functions for all three types, and convert to each.
        target_compile_options(${target} PRIVATE -Wno-float-conversion)
    endif()
    weft_link_options(${target})
endfunction()

# weft_link_options(<target>): hardening and sanitizers, for what is linked of objects that had weft_compile_options.
function(weft_link_options target)
    target_link_options(${target} PRIVATE ${weft_hardening_link} ${weft_sanitize_flags})
endfunction()

# weft_finish_program(<target>): sanitizer builds keep drivers mapped until the final report, see
# tests/sanitizer/keep_loaded.c.
function(weft_finish_program target)
    if(WEFT_SANITIZE MATCHES "address|leak|thread")
        target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/sanitizer/keep_loaded.c")
        target_link_options(${target} PRIVATE -Wl,--export-dynamic-symbol=dlclose)
    endif()
endfunction()
