# SPDX-License-Identifier: MIT
#
# Linux on AArch64, by Debian's cross compiler. WEFT_TARGET_ROOT, in the environment, is the folder with the target's
# libraries: build/deps/arm64, which `./dev foreign aarch64` fills, unless it says otherwise. Programs of the target, such
# as tests, are run by qemu-user where that is installed.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

if(DEFINED ENV{WEFT_TARGET_ROOT})
    set(CMAKE_SYSROOT "$ENV{WEFT_TARGET_ROOT}")
else()
    cmake_path(SET CMAKE_SYSROOT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../build/deps/arm64")
endif()
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
    "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/lib/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")

find_program(weft_qemu NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(weft_qemu)
if(weft_qemu)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${weft_qemu};-L;${CMAKE_SYSROOT}")
endif()
