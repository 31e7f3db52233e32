# SPDX-License-Identifier: MIT
#
# The definitions of ops in float64 (api/verify/reference), and the cases and the sheets of mixers that are made with them
# (api/verify), for `weft verify`, `weft bench` and the tests: target weft_reference.

file(GLOB weft_reference_sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/api/verify/reference/*.c" "${PROJECT_SOURCE_DIR}/api/verify/*.c")
add_library(weft_reference STATIC ${weft_reference_sources})
target_include_directories(weft_reference PUBLIC "${PROJECT_SOURCE_DIR}/api")
weft_compile_options(weft_reference)
target_link_libraries(weft_reference PRIVATE weft_evaluator weft_core weft::weft m)
