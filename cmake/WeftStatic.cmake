# SPDX-License-Identifier: MIT
#
# WEFT_STATIC: one file that any Linux of its processor runs, whatever C library that has, or none. A program without a dynamic linker
# can open no library, so there are no drivers, and what would look for them is not in it (cmake/WeftLibrary.cmake). LLVM is linked
# (WeftBundledLlvm.cmake). The other libraries have to be archives, too: ./dev static builds those that pkg-config then finds.

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR BUILD_SHARED_LIBS OR WEFT_BUILD_PYTHON OR WEFT_BUILD_TESTS OR WEFT_BUILD_EXAMPLES)
    message(FATAL_ERROR "WEFT_STATIC links the command alone, for Linux: without BUILD_SHARED_LIBS, WEFT_BUILD_PYTHON, "
            "WEFT_BUILD_TESTS and WEFT_BUILD_EXAMPLES.")
endif()

# For weft.cdx.json: the version is known to the headers alone.
execute_process(COMMAND "${CMAKE_C_COMPILER}" "--sysroot=${CMAKE_SYSROOT}" -dM -E -x c -include features.h /dev/null
                OUTPUT_VARIABLE weft_macros COMMAND_ERROR_IS_FATAL ANY)
if(weft_macros MATCHES "__GLIBC__ ([0-9]+)")
    set(weft_glibc_version "${CMAKE_MATCH_1}")
endif()
if(weft_macros MATCHES "__GLIBC_MINOR__ ([0-9]+)")
    string(APPEND weft_glibc_version ".${CMAKE_MATCH_1}")
endif()

# Relocations of LLVM's tables are 3 MB otherwise. Not for every processor.
include(CheckLinkerFlag)
set(weft_packed_relocations "")
check_linker_flag(C "-Wl,--fatal-warnings,-z,pack-relative-relocs" WEFT_LINKER_PACKS_RELOCATIONS)
if(WEFT_LINKER_PACKS_RELOCATIONS)
    set(weft_packed_relocations "-Wl,-z,pack-relative-relocs")
endif()

# weft_link_statically(<target>): the C library warns where something is linked that would open a library after all (dlopen, or the
# names of users and hosts): here that is an error. What LLVM has of it leads to no_libraries.c. Of LLVM's passes passes.cpp names those
# that are needed.
function(weft_link_statically target)
    if(WEFT_HAVE_LLVM)
        if(NOT weft_llvm_major EQUAL 15)
            message(FATAL_ERROR "LLVM is ${weft_llvm_version}, but packaging/compiler/passes.cpp is for LLVM 15; LLVM_DIR chooses among several.")
        endif()
        target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/packaging/compiler/passes.cpp")
        target_include_directories(${target} SYSTEM PRIVATE ${weft_llvm_include_dirs})
        set_source_files_properties("${PROJECT_SOURCE_DIR}/packaging/compiler/passes.cpp" PROPERTIES
            COMPILE_OPTIONS "-fno-rtti;-fno-exceptions")
    endif()
    target_sources(${target} PRIVATE
        "${PROJECT_SOURCE_DIR}/packaging/compiler/no_terminal.c" "${PROJECT_SOURCE_DIR}/packaging/compiler/no_libraries.c")
    # For the property CMake would add -pie, which undoes -static-pie.
    set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE)
    target_compile_options(${target} PRIVATE -fPIE)
    target_link_options(${target} PRIVATE -static-pie -Wl,--gc-sections -Wl,--fatal-warnings ${weft_packed_relocations})
    foreach(name dlopen dlclose dlerror dlsym getpwnam getpwuid)
        target_link_options(${target} PRIVATE "-Wl,--wrap=${name}")
    endforeach()
endfunction()
