# SPDX-License-Identifier: MIT
#
# cmake -DSOURCE=tree -DWORK=folder -DPKG_CONFIG=program -P pc_folders.cmake
#
# weft.pc with relative and absolute folders of libraries and headers, as packagers give them, and after the tree was moved.
cmake_minimum_required(VERSION 3.25)
include("${SOURCE}/cmake/WeftPkgConfig.cmake")
file(REMOVE_RECURSE "${WORK}")
set(PROJECT_DESCRIPTION "A library")
set(PROJECT_VERSION 1.2.3)
set(weft_pc_cflags "-I\${includedir}")
set(weft_pc_libs "-lweft")

# expect(<library folder> <include folder> <folder of weft.pc> <-I> <-L>)
function(expect libdir includedir at cflags libs)
    weft_pc_folders("${libdir}" "${includedir}" "${WORK}/prefix")
    configure_file("${SOURCE}/cmake/weft.pc.in" "${at}/pkgconfig/weft.pc" @ONLY)
    set(ENV{PKG_CONFIG_PATH} "${at}/pkgconfig")
    foreach(what cflags libs)
        execute_process(COMMAND "${PKG_CONFIG}" --${what} weft OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
        string(REGEX MATCH "-[IL]([^ \n]*)" flag "${flags}")
        cmake_path(SET found NORMALIZE "${CMAKE_MATCH_1}")
        if(NOT found STREQUAL "${${what}}")
            message(SEND_ERROR "LIBDIR ${libdir}, INCLUDEDIR ${includedir}: --${what} is ${flags}, expected ${${what}}")
        endif()
    endforeach()
    file(REMOVE "${at}/pkgconfig/weft.pc")
endfunction()

set(prefix "${WORK}/prefix")
set(moved "${WORK}/moved")
expect(lib include "${prefix}/lib" "${prefix}/include" "${prefix}/lib")
expect(lib include "${moved}/lib" "${moved}/include" "${moved}/lib")
expect(lib/deep/er include/weft-1 "${moved}/lib/deep/er" "${moved}/include/weft-1" "${moved}/lib/deep/er")
expect("${WORK}/out/lib" "${WORK}/dev/include" "${WORK}/out/lib" "${WORK}/dev/include" "${WORK}/out/lib")
expect("${WORK}/out/lib" include "${WORK}/out/lib" "${prefix}/include" "${WORK}/out/lib")
expect(lib "${WORK}/dev/include" "${moved}/lib" "${WORK}/dev/include" "${moved}/lib")
