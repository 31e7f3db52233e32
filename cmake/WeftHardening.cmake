# SPDX-License-Identifier: MIT
#
# What makes a fault in Weft's own C and C++ hard to use, and builds the same wherever they are made. Sets
# weft_hardening_compile and weft_hardening_link to what this build's compiler and linker know of it.
# tests/packaging/hardening.cmake reads the binaries for it.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(WEFT_HARDENING "Stack protection, checked library calls, read-only relocations and no paths in Weft's own code" ON)

check_pie_supported(OUTPUT_VARIABLE weft_pie_output LANGUAGES C CXX)

# weft_try_compile_flag(<flag>), weft_try_link_flag(<flag>): appends it where it is known.
function(weft_try_compile_flag flag)
    string(MAKE_C_IDENTIFIER "WEFT_COMPILER_HAS${flag}" variable)
    set(CMAKE_REQUIRED_FLAGS -Werror) # clang warns of a flag that does nothing on its target
    if(MINGW) # the stack's protection is in a library, which the linker takes for the same flag
        set(CMAKE_REQUIRED_LINK_OPTIONS "${flag}")
    endif()
    check_c_compiler_flag("${flag}" ${variable})
    if(${variable})
        set(weft_hardening_compile ${weft_hardening_compile} "${flag}" PARENT_SCOPE)
    endif()
endfunction()
function(weft_try_link_flag flag)
    string(MAKE_C_IDENTIFIER "WEFT_LINKER_HAS${flag}" variable)
    check_linker_flag(C "${flag}" ${variable})
    if(${variable})
        set(weft_hardening_link ${weft_hardening_link} "${flag}" PARENT_SCOPE)
    endif()
endfunction()

# weft_find_fortify(): the highest level that the C library knows with this compiler; it warns of one that is too high.
function(weft_find_fortify)
    foreach(level 3 2)
        set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
        check_c_source_compiles("#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv) {
            char text[8]; snprintf(text, sizeof text, \"%s\", argv[argc - 1]); return (int)strlen(text); }"
            WEFT_FORTIFY_${level})
        if(WEFT_FORTIFY_${level})
            # It needs an optimising compiler. Sanitizers see more, and do not see through it.
            set(weft_hardening_compile ${weft_hardening_compile}
                "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}>" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

set(weft_hardening_compile "")
set(weft_hardening_link "")
if(WEFT_HARDENING)
    weft_try_compile_flag(-fstack-protector-strong)
    if(MINGW AND WEFT_COMPILER_HAS_fstack_protector_strong)
        list(APPEND weft_hardening_link -fstack-protector-strong)
    endif()
    # On Windows every frame of a page or more is probed, page by page, by its calling convention; GCC 12 fails on large frames
    # with the option there.
    if(NOT WIN32)
        weft_try_compile_flag(-fstack-clash-protection)
    endif()
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
        weft_try_compile_flag(-mbranch-protection=standard)
    elseif(NOT WIN32)
        weft_try_compile_flag(-fcf-protection)
    endif()
    if(NOT WEFT_SANITIZE AND NOT WIN32)
        weft_find_fortify()
    endif()
    if(WIN32)
        weft_try_link_flag(-Wl,--dynamicbase)
        weft_try_link_flag(-Wl,--nxcompat)
        weft_try_link_flag(-Wl,--high-entropy-va)
    elseif(NOT APPLE)
        weft_try_link_flag(-Wl,-z,relro)
        weft_try_link_flag(-Wl,-z,now)
        weft_try_link_flag(-Wl,-z,noexecstack)
    endif()
endif()

# No path of the machine that builds: in texts (__FILE__) and debug information files are below ".", and what is generated below
# "build". A debugger that is started in the source tree finds them. Of two prefixes GCC takes the last that fits.
# Coverage has to find them, and is built without all this.
check_c_compiler_flag(-ffile-prefix-map=a=b WEFT_COMPILER_HAS_FILE_PREFIX_MAP)
if(WEFT_HARDENING AND WEFT_COMPILER_HAS_FILE_PREFIX_MAP)
    list(APPEND weft_hardening_compile "-ffile-prefix-map=${weft_vkfft_dir}=vkfft"
         "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
    if(WEFT_COMPILED_SHADERS)
        list(APPEND weft_hardening_compile "-ffile-prefix-map=${WEFT_COMPILED_SHADERS}=build/shaders")
    endif()
endif()

# Nor the time in archives; GNU's tools are not everywhere built to leave it out.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    foreach(language C CXX)
        set(CMAKE_${language}_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
        set(CMAKE_${language}_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
        set(CMAKE_${language}_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
    endforeach()
endif()
