# SPDX-License-Identifier: MIT
#
# cmake -DSOURCE=folder -DWORK=folder -DVKFFT=folder -DCC=program -DCXX=program -DMAKE=program -DPKG_CONFIG=program
#       -DCONSUMER=folder -DVERSION=version -P vcpkg.cmake
#
# Runs the vcpkg port's portfile.cmake without vcpkg: what its functions are documented to do for a release build is done here,
# with the system's packages for the port's dependencies. Then the consumer is built against what it installed. It does not show
# that the dependencies have these names, nor what vcpkg checks after a build.
cmake_minimum_required(VERSION 3.25)

set(PORT weft)
set(port "${SOURCE}/packaging/vcpkg/ports/weft")
file(REMOVE_RECURSE "${WORK}")
set(CURRENT_PACKAGES_DIR "${WORK}/packages/weft_x64-linux")
set(CURRENT_INSTALLED_DIR "${WORK}/installed/x64-linux")
set(CURRENT_HOST_INSTALLED_DIR "${CURRENT_INSTALLED_DIR}")
set(FEATURES core)
set(ENV{VKFFT_INCLUDE_DIR} "${VKFFT}")

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# OUT_FEATURE_OPTIONS <variable> FEATURES (<feature> <option>)...: -D<option>=ON or OFF
function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(options "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature option)
        set(state OFF)
        if(feature IN_LIST FEATURES)
            set(state ON)
        endif()
        list(APPEND options "-D${option}=${state}")
        if(NOT manifest MATCHES "\"${feature}\": {")
            message(FATAL_ERROR "vcpkg.json has no feature ${feature}")
        endif()
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_find_acquire_program name)
    set(${name} "${PKG_CONFIG}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${WORK}/build" -G Ninja "-DCMAKE_MAKE_PROGRAM=${MAKE}"
        "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${WORK}/build" --target install --parallel 2)
endfunction()

# lib/cmake/weft → share/weft, without the folder cmake that is left, and what that breaks: the prefix is two folders up, not three.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake")
    file(GLOB texts "${CURRENT_PACKAGES_DIR}/share/${PORT}/*.cmake")
    foreach(file IN LISTS texts)
        file(READ "${file}" text)
        string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
        string(REGEX REPLACE "get_filename_component\\(_IMPORT_PREFIX \"\\\${CMAKE_CURRENT_LIST_FILE}\" PATH\\)(\nget_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\))+"
               "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)"
               text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
    set(ENV{PKG_CONFIG_PATH} "${CURRENT_PACKAGES_DIR}/lib/pkgconfig")
    run("${PKG_CONFIG}" --exact-version "${VERSION}" weft)
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    foreach(file IN LISTS arg_FILE_LIST)
        file(READ "${file}" text)
        file(APPEND "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${text}\n")
    endforeach()
endfunction()

# What vcpkg asks of a manifest: the version is the project's, and names are lower case with hyphens.
file(READ "${port}/vcpkg.json" manifest)
string(JSON version GET "${manifest}" version)
if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "vcpkg.json says version ${version}, the project ${VERSION}")
endif()
string(JSON count LENGTH "${manifest}" dependencies)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
    string(JSON type TYPE "${manifest}" dependencies ${index})
    if(type STREQUAL "OBJECT")
        string(JSON name GET "${manifest}" dependencies ${index} name)
    else()
        string(JSON name GET "${manifest}" dependencies ${index})
    endif()
    if(NOT name MATCHES "^[a-z0-9]+(-[a-z0-9]+)*$")
        message(FATAL_ERROR "vcpkg.json names a dependency '${name}'")
    endif()
endforeach()

include("${port}/portfile.cmake")

foreach(file include/weft/weft.h include/weft/weft.hpp lib/libweft.a share/weft/copyright share/weft/usage
        share/weft/weftConfig.cmake lib/pkgconfig/weft.pc)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
        message(FATAL_ERROR "the port does not install ${file}")
    endif()
endforeach()
file(READ "${CURRENT_PACKAGES_DIR}/share/weft/copyright" text)
if(NOT text MATCHES "The Weft authors.*VkFFT \\(MIT\\)")
    message(FATAL_ERROR "the port's copyright lacks Weft's or others' notices")
endif()
foreach(folder debug/include lib/cmake share/doc)
    if(EXISTS "${CURRENT_PACKAGES_DIR}/${folder}")
        message(FATAL_ERROR "the port installs ${folder}, which vcpkg refuses")
    endif()
endforeach()
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/consumer" -G Ninja "-DCMAKE_MAKE_PROGRAM=${MAKE}"
    "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_PREFIX_PATH=${CURRENT_PACKAGES_DIR}"
    -DWEFT_WITH_CXX=ON -DWEFT_COMPONENTS=static)
run("${CMAKE_COMMAND}" --build "${WORK}/consumer")
execute_process(COMMAND "${WORK}/consumer/consumer_cxx" OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT text STREQUAL "weft ${VERSION} WEFT_OK")
    message(FATAL_ERROR "the consumer printed '${text}'")
endif()
