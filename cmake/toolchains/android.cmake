# SPDX-License-Identifier: MIT
#
# Android on 64-bit Arm, by the NDK, whose folder is ANDROID_NDK in the environment. The API level is 28, where bionic got
# aligned_alloc, the newest of the functions that libweft takes from it (tests/house/c_library.txt, which a test holds it
# to). Devices may have pages of 16 KiB: Weft asks for the size, and linkers are told. WEFT_TARGET_ROOT, in the environment, is
# the prefix into which jansson, libzip, utf8proc and glslang were built with this file.
#
# Nobody has built Weft with an NDK yet.

if(NOT DEFINED ENV{ANDROID_NDK})
    message(FATAL_ERROR "android.cmake: ANDROID_NDK is not set in the environment.")
endif()
set(ANDROID_ABI arm64-v8a)
set(ANDROID_PLATFORM android-28)
set(ANDROID_STL c++_static)
set(ANDROID_SUPPORT_FLEXIBLE_PAGE_SIZES ON)
include("$ENV{ANDROID_NDK}/build/cmake/android.toolchain.cmake")
if(DEFINED ENV{WEFT_TARGET_ROOT})
    list(APPEND CMAKE_FIND_ROOT_PATH "$ENV{WEFT_TARGET_ROOT}")
    set(ENV{PKG_CONFIG_LIBDIR} "$ENV{WEFT_TARGET_ROOT}/lib/pkgconfig")
endif()
