# SPDX-License-Identifier: MIT
#
# Installs Weft into a folder of the build tree and builds the consumer in three ways against it.

set(weft_stage "${CMAKE_CURRENT_BINARY_DIR}/packaging")
set(weft_consumer "${CMAKE_CURRENT_SOURCE_DIR}/packaging/consumer")

# weft_add_packaging_test(<way> [-D...]): runs packaging/consume.cmake.
function(weft_add_packaging_test way)
    add_test(NAME packaging.${way}
        COMMAND "${CMAKE_COMMAND}" "-DWAY=${way}" "-DSTAGE=${weft_stage}"
                "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBINARY=${PROJECT_BINARY_DIR}"
                "-DCONSUMER=${weft_consumer}" "-DVERSION=${PROJECT_VERSION}"
                "-DCC=${CMAKE_C_COMPILER}" "-DCXX=${CMAKE_CXX_COMPILER}"
                "-DGENERATOR=${CMAKE_GENERATOR}" "-DMAKE=${CMAKE_MAKE_PROGRAM}"
                "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}"
                "-DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}" "-DVKFFT=${weft_vkfft_dir}"
                "-DWITH_COMMAND=${WEFT_BUILD_CLI}" "-DLIBRARY=$<TARGET_FILE:weft>"
                -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/consume.cmake")
    set_tests_properties(packaging.${way} PROPERTIES LABELS packaging TIMEOUT 600)
endfunction()

weft_add_packaging_test(install)
set_tests_properties(packaging.install PROPERTIES FIXTURES_SETUP weft_stage)
foreach(way find_package pkg_config)
    weft_add_packaging_test(${way})
    set_tests_properties(packaging.${way} PROPERTIES FIXTURES_REQUIRED weft_stage)
endforeach()
# Compiles the whole library again, hence both cores' worth of work.
weft_add_packaging_test(add_subdirectory)
set_tests_properties(packaging.add_subdirectory PROPERTIES PROCESSORS 2 LABELS "packaging;long")

# libweft is linked into programs that bring loaders, glslang and volk of their own.
add_test(NAME packaging.symbols
    COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DREADELF=${CMAKE_READELF}"
            "-DLIBRARY=$<TARGET_FILE:weft>" "-DHEADERS=${PROJECT_SOURCE_DIR}/api/include/weft"
            "-DSHARED=${BUILD_SHARED_LIBS}" -P "${CMAKE_CURRENT_SOURCE_DIR}/packaging/symbols.cmake")
set_tests_properties(packaging.symbols PROPERTIES LABELS packaging)
