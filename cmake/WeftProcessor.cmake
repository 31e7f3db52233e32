# SPDX-License-Identifier: MIT
#
# The compiler of the processor device (runtime/native/llvm), which needs LLVM's C headers to be built and libLLVM to run.
# LLVM is not linked but opened at the first compilation, see runtime/native/llvm/llvm.h, so that neither a program's start nor
# a package of Weft depends on it. It is the system's, or with WEFT_LLVM=BUNDLED one that this build makes, or with WEFT_STATIC part
# of the command, see WeftBundledLlvm.cmake. Sets WEFT_HAVE_LLVM and, where it is on, the target weft_llvm: what sources that
# call LLVM compile against.

# Those that the compiler works with, of whichever the headers are: runtime/native/llvm/version.h.
file(STRINGS "${PROJECT_SOURCE_DIR}/runtime/native/llvm/version.h" weft_llvm_versions REGEX "define WEFT_LLVM_(OLD|NEW)EST")
string(REGEX MATCHALL "[0-9]+" weft_llvm_versions "${weft_llvm_versions}")
list(GET weft_llvm_versions 0 weft_llvm_oldest)
list(GET weft_llvm_versions 1 weft_llvm_newest)

set(weft_llvm_target X86)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(weft_llvm_target AArch64)
endif()

# weft_list_llvm_archives(<variable> <target of LLVM's>...): the archives of these targets and of all that they are linked to.
# Empty where there are none.
function(weft_list_llvm_archives variable)
    set(archives "")
    set(seen "")
    set(left ${ARGN})
    while(left)
        list(POP_FRONT left target)
        if(target IN_LIST seen OR NOT TARGET "${target}" OR NOT target MATCHES "^LLVM")
            continue()
        endif()
        list(APPEND seen "${target}")
        get_target_property(configurations "${target}" IMPORTED_CONFIGURATIONS)
        list(GET configurations 0 configuration)
        get_target_property(path "${target}" IMPORTED_LOCATION_${configuration})
        get_target_property(uses "${target}" INTERFACE_LINK_LIBRARIES)
        if(EXISTS "${path}")
            list(APPEND archives "${path}")
        endif()
        if(uses)
            list(TRANSFORM uses REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
            list(APPEND left ${uses})
        endif()
    endwhile()
    set(${variable} "${archives}" PARENT_SCOPE)
endfunction()

# weft_find_llvm(): sets weft_llvm_missing, or weft_llvm_version, weft_llvm_include_dirs, weft_llvm_path, weft_llvm_name and
# weft_llvm_archives in the caller. A function, because LLVM's package sets a hundred variables.
function(weft_find_llvm)
    set(weft_llvm_missing "" PARENT_SCOPE)
    set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL OFF) # its 200 targets are nobody else's business
    # What static libraries of LLVM's would be linked to is not looked for.
    foreach(package FFI LibEdit Terminfo ZLIB zstd LibXml2 Z3 CURL httplib)
        set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
    endforeach()
    # Where versions are installed beside each other the default may be an old one, and only one can be looked at: targets
    # of a package stay. LLVM_DIR goes before all.
    foreach(version RANGE ${weft_llvm_newest} ${weft_llvm_oldest} -1)
        if(NOT LLVM_FOUND)
            find_package(LLVM QUIET CONFIG NO_DEFAULT_PATH PATHS "/usr/lib/llvm-${version}" "/usr/lib/llvm${version}"
                "/usr/lib/llvm/${version}" "/usr/lib64/llvm${version}" "/usr/local/llvm${version}")
        endif()
    endforeach()
    if(NOT LLVM_FOUND)
        find_package(LLVM QUIET CONFIG)
    endif()
    if(NOT LLVM_FOUND)
        set(weft_llvm_missing "LLVM of ${weft_llvm_oldest} to ${weft_llvm_newest} (llvm-15-dev) was not found" PARENT_SCOPE)
        return()
    endif()
    set(found "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
    if(LLVM_VERSION_MAJOR LESS weft_llvm_oldest OR LLVM_VERSION_MAJOR GREATER weft_llvm_newest)
        set(weft_llvm_missing "${found} is not of ${weft_llvm_oldest} to ${weft_llvm_newest} (llvm-15-dev)" PARENT_SCOPE)
        return()
    endif()
    if(NOT TARGET LLVM)
        set(weft_llvm_missing "${found} has no shared library" PARENT_SCOPE)
        return()
    endif()
    get_target_property(configurations LLVM IMPORTED_CONFIGURATIONS)
    list(GET configurations 0 configuration)
    get_target_property(path LLVM IMPORTED_LOCATION_${configuration})
    get_target_property(name LLVM IMPORTED_SONAME_${configuration})
    if(NOT EXISTS "${path}" OR NOT name)
        set(weft_llvm_missing "${found} has no shared library" PARENT_SCOPE)
        return()
    endif()
    if(CMAKE_SYSROOT) # it is opened where it is on the target
        string(REPLACE "${CMAKE_SYSROOT}/" "/" path "${path}")
    endif()
    weft_list_llvm_archives(archives LLVMPasses LLVM${weft_llvm_target}CodeGen)
    set(weft_llvm_archives "${archives}" PARENT_SCOPE)
    set(weft_llvm_version "${LLVM_PACKAGE_VERSION}" PARENT_SCOPE)
    set(weft_llvm_include_dirs "${LLVM_INCLUDE_DIRS}" PARENT_SCOPE)
    set(weft_llvm_path "${path}" PARENT_SCOPE)
    set(weft_llvm_name "${name}" PARENT_SCOPE)
endfunction()

# weft_find_llvm_headers(): the same for Windows, where the library is found when it is wanted: LLVM-C.dll of LLVM's own
# installer, or else the one that is called after its version. Its C headers are the same for all systems.
function(weft_find_llvm_headers)
    set(weft_llvm_missing "" PARENT_SCOPE)
    set(folders "")
    foreach(version RANGE ${weft_llvm_newest} ${weft_llvm_oldest} -1)
        list(APPEND folders "/usr/lib/llvm-${version}/include")
    endforeach()
    find_path(WEFT_LLVM_INCLUDE_DIR llvm-c/Core.h NO_CMAKE_FIND_ROOT_PATH PATHS ${folders})
    mark_as_advanced(WEFT_LLVM_INCLUDE_DIR)
    set(config "${WEFT_LLVM_INCLUDE_DIR}/llvm/Config/llvm-config.h")
    if(NOT EXISTS "${config}")
        set(weft_llvm_missing "LLVM's C headers (llvm-15-dev) were not found; WEFT_LLVM_INCLUDE_DIR names their folder"
            PARENT_SCOPE)
        return()
    endif()
    file(STRINGS "${config}" line REGEX "define LLVM_VERSION_STRING ")
    string(REGEX MATCH "[0-9]+\\.[0-9.]+" version "${line}")
    string(REGEX MATCH "^[0-9]+" major "${version}")
    if(major LESS weft_llvm_oldest OR major GREATER weft_llvm_newest)
        set(weft_llvm_missing
            "LLVM ${version} in ${WEFT_LLVM_INCLUDE_DIR} is not of ${weft_llvm_oldest} to ${weft_llvm_newest} (llvm-15-dev)"
            PARENT_SCOPE)
        return()
    endif()
    set(weft_llvm_version "${version}" PARENT_SCOPE)
    set(weft_llvm_include_dirs "${WEFT_LLVM_INCLUDE_DIR}" PARENT_SCOPE)
    set(weft_llvm_path "libLLVM-${major}.dll" PARENT_SCOPE)
    set(weft_llvm_name "LLVM-C.dll" PARENT_SCOPE)
endfunction()

set(WEFT_HAVE_LLVM OFF)
if(WEFT_LLVM STREQUAL "OFF")
    set(weft_llvm_missing "WEFT_LLVM is OFF")
elseif(WIN32 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    weft_find_llvm_headers()
elseif(NOT CMAKE_SYSTEM_NAME MATCHES "^(Linux|FreeBSD)$" OR
       NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
    set(weft_llvm_missing "it is for x86-64 and AArch64 with Linux or FreeBSD, and x86-64 with Windows")
else()
    weft_find_llvm()
endif()
if(NOT weft_llvm_missing)
    set(WEFT_HAVE_LLVM ON)
    message(STATUS "Processor device: LLVM ${weft_llvm_version}, ${weft_llvm_path}")
elseif(WEFT_LLVM MATCHES "^(ON|BUNDLED)$")
    message(FATAL_ERROR "WEFT_LLVM is ${WEFT_LLVM}, but ${weft_llvm_missing}.\nOn Debian, ./dev setup installs it.")
else()
    message(STATUS "Processor device: it interprets kernels, slowly, since ${weft_llvm_missing}")
endif()

if(WEFT_HAVE_LLVM)
    # Which functions the sources name, and the names of ours that stand for them.
    file(GLOB weft_compiler_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/native/llvm/*.[ch]"
         "${PROJECT_SOURCE_DIR}/runtime/spirv/ir/*.[ch]")
    # What compiled code knows of its callers is here, and so part of the compiler's identity.
    list(APPEND weft_compiler_sources "${PROJECT_SOURCE_DIR}/runtime/native/kernel.h")
    set(weft_llvm_dir "${PROJECT_BINARY_DIR}/llvm")
    add_custom_command(
        OUTPUT "${weft_llvm_dir}/llvm_functions.stamp"
        BYPRODUCTS "${weft_llvm_dir}/llvm_functions.h" "${weft_llvm_dir}/llvm_names.h"
        "${weft_llvm_dir}/llvm_identity.h" "${weft_llvm_dir}/llvm_exports.ld"
        COMMAND "${CMAKE_COMMAND}" "-DSOURCES=${weft_compiler_sources}" "-DHEADERS=${weft_llvm_include_dirs}"
                "-DOUTPUT=${weft_llvm_dir}" -P "${PROJECT_SOURCE_DIR}/cmake/llvm_functions.cmake"
        DEPENDS ${weft_compiler_sources} "${PROJECT_SOURCE_DIR}/cmake/llvm_functions.cmake"
        COMMENT "Functions of LLVM" VERBATIM)
    add_custom_target(weft_llvm_functions DEPENDS "${weft_llvm_dir}/llvm_functions.stamp")

    add_library(weft_llvm INTERFACE)
    target_include_directories(weft_llvm SYSTEM INTERFACE ${weft_llvm_include_dirs} "${weft_llvm_dir}")
    if(NOT WEFT_STATIC) # its linker finds them by LLVM's own names
        target_compile_options(weft_llvm INTERFACE "SHELL:-include \"${weft_llvm_dir}/llvm_names.h\"")
    endif()
    # What may lie beside us: a library with the functions of these headers, or on Windows LLVM's own.
    string(REGEX MATCH "^[0-9]+" weft_llvm_major "${weft_llvm_version}")
    set(weft_llvm_beside "libweft-llvm-${weft_llvm_major}.so")
    if(WIN32)
        set(weft_llvm_beside "${weft_llvm_name}")
    endif()
    target_compile_definitions(weft_llvm INTERFACE "WEFT_LLVM_BESIDE=\"${weft_llvm_beside}\""
        "WEFT_LLVM_NAME=\"${weft_llvm_name}\"" "WEFT_LLVM_PATH=\"${weft_llvm_path}\"")
    if(WEFT_STATIC OR WEFT_LLVM STREQUAL "BUNDLED")
        include(WeftBundledLlvm)
    endif()
endif()
