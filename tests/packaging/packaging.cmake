# SPDX-License-Identifier: MIT
#
# Installs Weft into a folder of the build tree and builds the consumer in three ways against it.

set(weft_stage "${CMAKE_CURRENT_BINARY_DIR}/packaging")
set(weft_consumer "${CMAKE_CURRENT_SOURCE_DIR}/packaging/consumer")

# weft_add_packaging_test(<way> [<preset>]): runs packaging/consume.cmake.
function(weft_add_packaging_test way)
    set(way_and_preset ${way} ${ARGN})
    list(JOIN way_and_preset "-" name)
    if(BUILD_SHARED_LIBS)
        set(static OFF)
    else()
        set(static ON)
    endif()
    add_test(NAME packaging.${name}
        COMMAND "${CMAKE_COMMAND}" "-DWAY=${way}" "-DPRESET=${ARGN}" "-DSTAGE=${weft_stage}"
                "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBINARY=${PROJECT_BINARY_DIR}"
                "-DCONSUMER=${weft_consumer}" "-DVERSION=${PROJECT_VERSION}"
                "-DCC=${CMAKE_C_COMPILER}" "-DCXX=${CMAKE_CXX_COMPILER}"
                "-DGENERATOR=${CMAKE_GENERATOR}" "-DMAKE=${CMAKE_MAKE_PROGRAM}"
                "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}"
                "-DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}" "-DVKFFT=${weft_vkfft_dir}" "-DREADELF=${CMAKE_READELF}"
                "-DHAS_shared=${BUILD_SHARED_LIBS}" "-DHAS_static=${static}" "-DHAS_processor=${WEFT_HAVE_LLVM}"
                -DHAS_sentencepiece=ON
                "-DWITH_COMMAND=${WEFT_BUILD_CLI}" "-DLIBRARY=$<TARGET_FILE:weft>"
                -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/consume.cmake")
    set_tests_properties(packaging.${name} PROPERTIES LABELS packaging)
endfunction()

weft_add_packaging_test(install)
set_tests_properties(packaging.install PROPERTIES FIXTURES_SETUP weft_stage)
foreach(way find_package components pkg_config)
    weft_add_packaging_test(${way})
    set_tests_properties(packaging.${way} PROPERTIES FIXTURES_REQUIRED weft_stage)
endforeach()
# The consumer's presets: those that take what is installed, and, long, those that compile the whole library again.
weft_add_packaging_test(preset installed)
set_tests_properties(packaging.preset-installed PROPERTIES FIXTURES_REQUIRED weft_stage)
foreach(preset fetched shared small asan)
    weft_add_packaging_test(preset ${preset})
    set_tests_properties(packaging.preset-${preset} PROPERTIES PROCESSORS 2 LABELS "packaging;long")
endforeach()
# Compiles the whole library again, hence both cores' worth of work.
weft_add_packaging_test(add_subdirectory)
set_tests_properties(packaging.add_subdirectory PROPERTIES PROCESSORS 2 LABELS "packaging;long")

# weft.pc where packagers give absolute folders.
add_test(NAME packaging.pc_folders
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DWORK=${weft_stage}/pc_folders"
            "-DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}" -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/pc_folders.cmake")
set_tests_properties(packaging.pc_folders PROPERTIES LABELS packaging)

# libweft is linked into programs that bring loaders, glslang and volk of their own.
add_test(NAME packaging.symbols
    COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DREADELF=${CMAKE_READELF}"
            "-DLIBRARY=$<TARGET_FILE:weft>" "-DHEADERS=${PROJECT_SOURCE_DIR}/api/include/weft"
            "-DSHARED=${BUILD_SHARED_LIBS}" -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/symbols.cmake")
set_tests_properties(packaging.symbols PROPERTIES LABELS packaging)

# Wheels and archives are linked for an older glibc than this machine's.
find_package(Python 3.9 QUIET COMPONENTS Interpreter)
if(Python_EXECUTABLE AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING AND
   NOT WEFT_SANITIZE)
    add_test(NAME packaging.older_glibc
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/packaging/older_glibc.sh" "${Python_EXECUTABLE}" "${CMAKE_C_COMPILER}"
                "${CMAKE_CXX_COMPILER}" "${weft_stage}/older_glibc")
    set_tests_properties(packaging.older_glibc PROPERTIES LABELS packaging)
endif()

# The profile for the Phoronix Test Suite installs, and finds times in what the command writes.
if(Python_EXECUTABLE AND TARGET weft-cli AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING AND NOT WEFT_SANITIZE AND
   WEFT_HAVE_LLVM)
    weft_add_host_test(packaging.phoronix LABELS packaging
        COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/packaging/phoronix.py"
                "${PROJECT_SOURCE_DIR}/packaging/phoronix/weft-1.0.0" "$<TARGET_FILE:weft-cli>" "${PROJECT_VERSION}" "${weft_stage}/phoronix")
endif()

# What is carried to a machine with a GPU does its work there.
if("lavapipe-8" IN_LIST weft_drivers AND TARGET weft-cli AND NOT WEFT_SANITIZE)
    weft_add_device_test(packaging.kit DRIVERS lavapipe-8 LABELS packaging
        COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/packaging/kit.sh" "$<TARGET_FILE:weft-cli>" "${CMAKE_CURRENT_BINARY_DIR}/kit")
endif()

# What cmake/WeftHardening.cmake asks for is in the binaries. That the test notices is shown by a program that has none of it.
set(weft_hardening "${CMAKE_COMMAND}" "-DREADELF=${CMAKE_READELF}"
    "-DTREES=${PROJECT_SOURCE_DIR};${PROJECT_BINARY_DIR};${weft_vkfft_dir}")
if(WEFT_HARDENING AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
    set(weft_hardened $<TARGET_FILE:weft_vulkan>)
    foreach(target weft-cli weft_python)
        if(TARGET ${target})
            list(APPEND weft_hardened $<TARGET_FILE:${target}>)
        endif()
    endforeach()
    if(BUILD_SHARED_LIBS)
        list(APPEND weft_hardened $<TARGET_FILE:weft>)
    endif()
    add_test(NAME packaging.hardening
        COMMAND ${weft_hardening} "-DFILES=${weft_hardened}" -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/hardening.cmake")
    set_tests_properties(packaging.hardening PROPERTIES LABELS packaging)
    add_test(NAME packaging.hardening-noticed
        COMMAND ${weft_hardening} "-DCC=${CMAKE_C_COMPILER}" "-DWORK=${weft_stage}/soft"
                -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/hardening_noticed.cmake")
    set_tests_properties(packaging.hardening-noticed PROPERTIES LABELS packaging)
endif()

# Whose code is in Weft: the notices are what they are made of, and the bill of materials has the form and the parts that it is to have.
add_test(NAME packaging.notices
    COMMAND "${CMAKE_COMMAND}" "-DCHECK=${weft_stage}/notices" -P "${PROJECT_SOURCE_DIR}/packaging/notices.cmake")
add_test(NAME packaging.notices-missing
    COMMAND "${CMAKE_COMMAND}" "-DLIBRARIES=libjansson-2a.so.4;libcrypto-0c.so.3" -P "${PROJECT_SOURCE_DIR}/packaging/notices.cmake")
add_test(NAME packaging.bill
    COMMAND "${CMAKE_COMMAND}" "-DBILL=${PROJECT_BINARY_DIR}/weft.cdx.json" "-DVERSION=${PROJECT_VERSION}"
            -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/bill.cmake")
set_tests_properties(packaging.notices packaging.notices-missing packaging.bill PROPERTIES LABELS packaging)
set_tests_properties(packaging.notices-missing PROPERTIES PASS_REGULAR_EXPRESSION "no notice of libcrypto")

# What a project that adds Weft as a subdirectory sets for all of its targets does not reach Weft: some files and, long, all of
# them. A program of it has the bits that it has without.
if(CMAKE_GENERATOR STREQUAL "Ninja" AND NOT BUILD_SHARED_LIBS)
    set(weft_parent "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DSHADERS=${weft_shader_binary_dir}"
        "-DVKFFT=${weft_vkfft_dir}" "-DCC=${CMAKE_C_COMPILER}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DMAKE=${CMAKE_MAKE_PROGRAM}"
        "-DLIBRARY=$<TARGET_FILE:weft>" "-DFLAGS=-ljansson -lzip -lutf8proc ${weft_pc_flags}")
    set(weft_parent_script "${CMAKE_CURRENT_SOURCE_DIR}/packaging/parent.cmake")
    add_test(NAME packaging.parent COMMAND ${weft_parent} "-DWORK=${weft_stage}/parent" -P "${weft_parent_script}")
    add_test(NAME packaging.parent-whole
        COMMAND ${weft_parent} -DWHOLE=ON "-DWORK=${weft_stage}/parent-whole" -P "${weft_parent_script}")
    set_tests_properties(packaging.parent PROPERTIES LABELS packaging)
    set_tests_properties(packaging.parent-whole PROPERTIES PROCESSORS 2 LABELS "packaging;long")
endif()

# The vcpkg port, by what vcpkg would do with it; this compiles the library again, too.
add_test(NAME packaging.vcpkg
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DWORK=${weft_stage}/vcpkg" "-DVKFFT=${weft_vkfft_dir}"
            "-DCC=${CMAKE_C_COMPILER}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DMAKE=${CMAKE_MAKE_PROGRAM}"
            "-DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}" "-DCONSUMER=${weft_consumer}" "-DVERSION=${PROJECT_VERSION}"
            -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/vcpkg.cmake")
set_tests_properties(packaging.vcpkg PROPERTIES PROCESSORS 2 LABELS "packaging;long")

# Two builds in two folders give the same bytes. It compiles all of it twice.
add_test(NAME packaging.reproduce
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/packaging/reproduce.sh" "${PROJECT_SOURCE_DIR}" "${weft_stage}/reproduce"
            "${weft_vkfft_dir}" "${CMAKE_COMMAND}" "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}"
            "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
set_tests_properties(packaging.reproduce PROPERTIES PROCESSORS 2 LABELS "packaging;long")
