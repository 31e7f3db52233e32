# SPDX-License-Identifier: MIT
#
# For Windows on x86-64, by Debian's mingw-w64 with its POSIX threads. Programs need no other DLL than those of Windows.
# What Weft links is in WEFT_WINDOWS_DIR, which ./dev windows fills.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

cmake_path(SET weft_windows_default NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../build/deps/windows")
set(WEFT_WINDOWS_DIR "${weft_windows_default}" CACHE PATH "Prefix of the libraries for Windows")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WEFT_WINDOWS_DIR)
set(CMAKE_FIND_ROOT_PATH "${WEFT_WINDOWS_DIR}" /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${WEFT_WINDOWS_DIR}/lib/pkgconfig")

# The stack as Linux has it, for LLVM; 2 MiB are the default.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,--stack,8388608")
