# SPDX-License-Identifier: MIT
#
# Any target of zig's C compiler, which brings the C libraries' headers with it: to compile, as a check, for systems that
# are not at hand. In the environment: WEFT_ZIG, the program; WEFT_ZIG_TARGET, such as aarch64-macos or x86_64-linux-musl;
# WEFT_TARGET_ROOT, a folder with the headers of the libraries that Weft uses and of nothing else. `./dev foreign` sets them.

foreach(name IN ITEMS WEFT_ZIG WEFT_ZIG_TARGET WEFT_TARGET_ROOT)
    if(NOT DEFINED ENV{${name}})
        message(FATAL_ERROR "zig.cmake: ${name} is not set in the environment.")
    endif()
endforeach()

string(REGEX MATCH "^([^-]+)-([^-]+)" weft_zig_match "$ENV{WEFT_ZIG_TARGET}")
set(CMAKE_SYSTEM_PROCESSOR "${CMAKE_MATCH_1}")
if(CMAKE_MATCH_2 STREQUAL "macos")
    set(CMAKE_SYSTEM_NAME Darwin)
    set(CMAKE_INSTALL_NAME_TOOL "${CMAKE_COMMAND}") # nothing is installed
    set(CMAKE_OSX_SYSROOT "")
else()
    set(CMAKE_SYSTEM_NAME Linux)
endif()
set(CMAKE_C_COMPILER "$ENV{WEFT_ZIG}" cc -target "$ENV{WEFT_ZIG_TARGET}")
set(CMAKE_CXX_COMPILER "$ENV{WEFT_ZIG}" c++ -target "$ENV{WEFT_ZIG_TARGET}")
# Nothing is linked, for which zig would first build a C library.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_FIND_ROOT_PATH "$ENV{WEFT_TARGET_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Debian's folders are named after the architecture that the packages are for, which is not the target's.
file(GLOB weft_triple RELATIVE "$ENV{WEFT_TARGET_ROOT}/usr/lib" "$ENV{WEFT_TARGET_ROOT}/usr/lib/*-linux-gnu")
set(CMAKE_LIBRARY_ARCHITECTURE "${weft_triple}")
set(CMAKE_C_LIBRARY_ARCHITECTURE "${weft_triple}")
set(CMAKE_CXX_LIBRARY_ARCHITECTURE "${weft_triple}")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "$ENV{WEFT_TARGET_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "$ENV{WEFT_TARGET_ROOT}/usr/lib/${weft_triple}/pkgconfig:$ENV{WEFT_TARGET_ROOT}/usr/share/pkgconfig")
