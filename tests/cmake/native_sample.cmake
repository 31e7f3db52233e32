# SPDX-License-Identifier: MIT
#
# The object that test_native_object.c and test_softvk.c load: code of this build's C compiler as LLVM's would be, which calls memcpy and memset
# and nothing of a runtime's, so no sanitizers, no stack protector, no checked copies and no
# counters of coverage.

add_library(weft-native-sample OBJECT "${CMAKE_CURRENT_SOURCE_DIR}/unit/native_sample.c")
target_include_directories(weft-native-sample PRIVATE
    "${PROJECT_SOURCE_DIR}/runtime" "${PROJECT_SOURCE_DIR}/api/include")
set_target_properties(weft-native-sample PROPERTIES POSITION_INDEPENDENT_CODE ON
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF INTERPROCEDURAL_OPTIMIZATION OFF)
target_compile_options(weft-native-sample PRIVATE -O2 -fno-sanitize=all -fno-stack-protector -U_FORTIFY_SOURCE
    -fno-profile-arcs -fno-test-coverage)
add_dependencies(weft-tests-unit weft-native-sample)
set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/unit/test_native_object.c" "${CMAKE_CURRENT_SOURCE_DIR}/unit/test_softvk.c" PROPERTIES
    COMPILE_DEFINITIONS "WEFT_NATIVE_SAMPLE=\"$<TARGET_OBJECTS:weft-native-sample>\"")
